"""The n-best lists of a parser in the order of a reranker."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from spacy_incparse.parsers.constraints import Constraints
from spacy_incparse.parsers.nbest import NBestSearch
from spacy_incparse.parsers.parse import Parse, Tags
from spacy_incparse.parsers.protocol import ConstituencyParser
from spacy_incparse.rerank.reranker import RankedParse, Reranker


class RerankedSearch(NBestSearch):
    """Find the n-best list of a sentence with a parser's search, and rerank it.

    model_parser: the parser whose temperature is used by rerankers without one; see `base_temperature`.
    """

    def __init__(self, search: NBestSearch, model_parser: ConstituencyParser, reranker: Reranker):
        self.parser: Any = RerankingParser(search.parser, self)
        self._search, self._model_parser, self._reranker = candidate_search(search, reranker), model_parser, reranker

    def ranked(self, words: Sequence[str], tags: Tags, constraints: Constraints = ()) -> list[RankedParse]:
        """Return the analyses with their new scores and probabilities, the chosen one first."""
        parses = self._search.analyses(words, tags, constraints, self._reranker.config.n)
        return self._reranker.rerank(parses, base_temperature(self._reranker, self._model_parser))

    def analyses(
        self, words: Sequence[str], tags: Tags, constraints: Constraints = (), n: int | None = None
    ) -> list[Parse]:
        """Return up to `n` analyses with their new scores, the chosen one first, the others by descending score.

        There are never more than the reranker looks at.
        """
        return [ranked.parse for ranked in self.ranked(words, tags, constraints)][:n]

    def beside(
        self, best: Parse, words: Sequence[str], tags: Tags, constraints: Constraints = (), n: int | None = None
    ) -> list[Parse]:
        """Return an analysis of a sentence, then the others as `analyses` orders them."""
        others = self.analyses(words, tags, constraints)
        return [best, *(parse for parse in others if parse.tree != best.tree)][:n]


def candidate_search(search: NBestSearch, reranker: Reranker) -> NBestSearch:
    """Return the search for lists like those that the reranker was trained on. search: that of the parser."""
    return NBestSearch(search.parser, with_better=True) if reranker.config.with_better else search


def base_temperature(reranker: Reranker, parser: ConstituencyParser) -> float:
    """Return what a parser's scores are divided by before a reranker weighs them; 1 if neither has a temperature."""
    return reranker.config.base_temperature or parser.temperature or 1.0


class RerankingParser:
    """A parser whose trees a reranker has chosen. Everything else is that of the parser that finds the lists."""

    def __init__(self, parser: ConstituencyParser, search: RerankedSearch):
        self._parser, self._search = parser, search

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_parser"], name)

    def parse(self, words: Sequence[str], tags: Tags, constraints: Constraints = ()) -> Parse:
        """Return the tree of a sentence that the reranker chooses, with the reranker's score."""
        return self._search.analyses(words, tags, constraints)[0]

    def parse_batch(self, sentences: Iterable[tuple]) -> list[Parse]:
        """Return the parses of sentences, each given as (words, tags) or (words, tags, constraints)."""
        return [self.parse(*sentence) for sentence in sentences]

    def nbest(self, words: Sequence[str], tags: Tags, k: int, constraints: Constraints = ()) -> list[Parse]:
        """Return up to `k` different trees of a sentence, the chosen one first."""
        return self._search.analyses(words, tags, constraints)[:k]
