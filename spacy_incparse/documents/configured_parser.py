"""A parser with its tagger, the component's search settings, and the fields stored with each tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from spacy_incparse.documents.sentences import Sentence
from spacy_incparse.documents.stored_fields import analysis_field, heads_field, maker_field, temperature_field
from spacy_incparse.parsing.parse import Constraints, Parse, Tags
from spacy_incparse.parsing.parser import Parser
from spacy_incparse.trees.labels import UNKNOWN_TAG
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from spacy_incparse.parsing.nbest import NBestSearch
    from spacy_incparse.parsing.parse import Posterior
    from spacy_incparse.tagging.tagger import Tagger


class ConfiguredParser:
    """A parser with a tagger and settings; it also computes the fields stored with each tree.

    model_parser: the parser with the search settings of its model. search: settings that override them. tagger: used
    if the parser needs tags. nbest: the number of analyses to store, including the first; 0 or 1: only the tree. maker:
    the id that is stored with each tree.
    """

    def __init__(
        self,
        model_parser: Parser,
        tagger: Tagger | None = None,
        search: Mapping[str, Any] | None = None,
        nbest: int = 0,
        maker: str = "",
    ):
        self.model_parser, self.tagger, self.nbest, self.maker = model_parser, tagger, nbest, maker
        self.parser = model_parser.with_search(**search) if search else model_parser
        self._heads = heads_field(model_parser.heads)

    @cached_property
    def nbest_search(self) -> NBestSearch:
        """The search for analyses other than the parser's own."""
        from spacy_incparse.parsing.nbest import NBestSearch

        return NBestSearch(self.parser)

    @property
    def temperature(self) -> float | None:
        """The temperature that turns scores into probabilities; `calibrate` may change it."""
        return self.model_parser.temperature

    def tags_for(self, sentences: Sequence[Sentence], *, use_given: bool) -> Sequence[Tags]:
        """Return the tags to parse with: the tagger's, or with `use_given` the words' own tags where they have any."""
        if not use_given:
            return self._own_tags([sentence.words for sentence in sentences])
        untagged = [sentence for sentence in sentences if not all(sentence.tags)]
        own = iter(self._own_tags([sentence.words for sentence in untagged])) if untagged else iter(())
        return [
            s.tags if all(s.tags) else [given or guess for given, guess in zip(s.tags, next(own), strict=True)]
            for s in sentences
        ]

    @property
    def has_exact_probabilities(self) -> bool:
        """Whether the parser knows the probabilities of trees, which its n-best lists do not tell."""
        return self.parser.has_exact_probabilities

    def posterior(self, words: Sequence[str], tags: Tags, constraints: Constraints = ()) -> Posterior | None:
        """Return the exact probabilities of a sentence's trees and phrases; None if only n-best lists tell them."""
        return self.parser.posterior(words, tags, constraints)

    def heads_field(self, tree: Tree) -> str:
        """Return the field that stores the heads of a tree."""
        return self._heads(tree.arrays)

    def fields(self, parse: Parse, words: Sequence[str], tags: Tags, constraints: Constraints = ()) -> list[str]:
        """Return all fields for the parser's own analysis of a sentence."""
        if self.nbest < 2 or parse.source == "flat":
            return self.own_fields(parse.tree)
        return self.with_others(parse, self.nbest_search.beside(parse, words, tags, constraints, self.nbest)[1:])

    def own_fields(self, tree: Tree) -> list[str]:
        """Return the fields for a tree that is stored alone."""
        return [self.heads_field(tree), *maker_field(self.maker)]

    def with_others(self, parse: Parse, others: Sequence[Parse]) -> list[str]:
        """Return all fields for an analysis that is stored with others."""
        return [
            *self.own_fields(parse.tree),
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
