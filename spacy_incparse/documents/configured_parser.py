"""A parser as a component uses it: with its tagger, the component's search settings, and what is stored with a tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from spacy_incparse.documents.sentences import Sentence
from spacy_incparse.documents.stored_fields import analysis_field, temperature_field
from spacy_incparse.documents.stored_heads import heads_field
from spacy_incparse.parsers.constraints import Constraints
from spacy_incparse.parsers.parse import UNKNOWN_TAG, Parse, Tags
from spacy_incparse.parsers.protocol import ConstituencyParser
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from spacy_incparse.parsers.nbest import NBestSearch
    from spacy_incparse.tagging.tagger import Tagger


class ConfiguredParser:
    """Tags and parses sentences, and gives the fields that are stored with a tree.

    model_parser: the parser with the search settings of its model; `search` are others. tagger: asked where the parser
    has to be given tags. nbest: how many analyses are stored, the first included; 0 or 1: none beside the tree.
    """

    def __init__(
        self,
        model_parser: ConstituencyParser,
        tagger: Tagger | None = None,
        search: Mapping[str, Any] | None = None,
        nbest: int = 0,
    ):
        self.model_parser, self.tagger, self.nbest = model_parser, tagger, nbest
        self.parser = model_parser.with_search(**search) if search else model_parser
        self._heads = heads_field(model_parser.heads)

    @cached_property
    def nbest_search(self) -> NBestSearch:
        """The search for other analyses than the parser's own."""
        from spacy_incparse.parsers.nbest import NBestSearch

        return NBestSearch(self.parser)

    @property
    def temperature(self) -> float | None:
        """What makes probabilities of scores; it may have been fitted since."""
        return self.model_parser.temperature

    def tags_for(self, sentences: Sequence[Sentence], *, use_given: bool) -> Sequence[Tags]:
        """Return the tags that sentences are parsed under: the tagger's, with `use_given` those that words have."""
        if not use_given:
            return self._own_tags([sentence.words for sentence in sentences])
        untagged = [sentence for sentence in sentences if not all(sentence.tags)]
        own = iter(self._own_tags([sentence.words for sentence in untagged])) if untagged else iter(())
        return [
            s.tags if all(s.tags) else [given or guess for given, guess in zip(s.tags, next(own), strict=True)]
            for s in sentences
        ]

    def heads_field(self, tree: Tree) -> str:
        """Return the field for the heads of a tree."""
        return self._heads(tree.arrays)

    def fields(self, parse: Parse, words: Sequence[str], tags: Tags, constraints: Constraints = ()) -> list[str]:
        """Return all fields for the parser's own analysis of a sentence."""
        heads = self.heads_field(parse.tree)
        if self.nbest < 2 or parse.source == "flat":
            return [heads]
        others = self.nbest_search.beside(parse, words, tags, constraints)[1 : self.nbest]
        return [
            heads,
            *temperature_field(self.temperature),
            *(analysis_field(other.tree, other.score, self.heads_field(other.tree)) for other in others),
        ]

    def _own_tags(self, sentences: Sequence[Sequence[str]]) -> Sequence[Tags]:
        request = self.parser.tag_request
        if request is None:
            return [[None] * len(words) for words in sentences]
        if self.tagger is None:
            return [[UNKNOWN_TAG] * len(words) for words in sentences]
        return self.tagger.candidate_tags(sentences, *request)
