"""A parser component's parser with a reranker behind it, for Docs: its trees, lists and temperature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from spacy_incparse.documents.configured_parser import ConfiguredParser
from spacy_incparse.documents.stored_fields import probability_field

if TYPE_CHECKING:
    from spacy_incparse.parsers.constraints import Constraints
    from spacy_incparse.parsers.parse import Parse, Tags
    from spacy_incparse.rerank.reranked_search import RerankedSearch
    from spacy_incparse.rerank.reranker import Reranker


class RerankedParser(ConfiguredParser):
    """A configured parser whose lists are reranked; tags, heads and the number of analyses to store are the parser's.

    search: settings of the reranker that override those of its model.
    """

    def __init__(self, base: ConfiguredParser, reranker: Reranker, search: Mapping[str, Any] | None = None):
        super().__init__(base.parser, base.tagger, nbest=base.nbest)
        self.base, self.source = base, reranker
        self.reranker = reranker.with_settings(**search) if search else reranker
        self.parser = self.nbest_search.parser

    @cached_property
    def nbest_search(self) -> RerankedSearch:
        """The parser's search for analyses, followed by the reranker."""
        from spacy_incparse.rerank.reranked_search import RerankedSearch

        return RerankedSearch(self.base.nbest_search, self.base.model_parser, self.reranker)

    @property
    def temperature(self) -> float | None:
        """The reranker's temperature."""
        return self.reranker.temperature

    @property
    def has_exact_probabilities(self) -> bool:
        """False: the lists tell the probabilities of their trees."""
        return False

    def posterior(self, words: Sequence[str], tags: Tags, constraints: Constraints = ()) -> None:
        """Return None: a reranker knows the probabilities of the trees in its lists."""

    def list_fields(self, parses: Sequence[Parse], probability: float) -> list[str]:
        """Return all fields for the first of a sentence's reranked analyses, which has this probability."""
        chosen, others = parses[0], parses[1 : self.nbest]
        fields = self.with_others(chosen, others) if self.nbest > 1 else [self.heads_field(chosen.tree)]
        return [*fields, probability_field(probability)]
