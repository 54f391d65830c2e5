"""A parser as a component uses it: with the component's search settings, and what it stores beside the trees."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from spacy_incparse.documents.stored_fields import analysis_field, temperature_field
from spacy_incparse.documents.stored_heads import heads_field
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from spacy_incparse.derivations.treebank_parser import Parse
    from spacy_incparse.parsers.nbest import Analyser
    from spacy_incparse.perceptron.perceptron_parser import Parser, Tags


class Decoder:
    """Parses, and gives the fields that are stored with a tree.

    model_parser: the parser with the search settings of its model; `search` are others.
    nbest: so many analyses are stored, the first included; 0 or 1: none beside the tree.
    """

    def __init__(self, model_parser: Parser, search: dict[str, Any] | None = None, nbest: int = 0):
        self.model_parser = model_parser
        self.parser = model_parser.with_search(**search) if search else model_parser
        self.nbest = nbest
        self._heads = heads_field(model_parser.heads)

    @cached_property
    def analyser(self) -> Analyser:
        """Finds other analyses than the parser's own."""
        from spacy_incparse.parsers.nbest import Analyser  # compiled modules stay unloaded until they are needed

        return Analyser(self.parser)

    @property
    def temperature(self) -> float | None:
        """What makes probabilities of scores; it may have been fitted since."""
        return self.model_parser.temperature

    def heads_field(self, tree: Tree) -> str:
        """Return the field for the heads of a tree."""
        return self._heads(tree.arrays)

    def fields(self, parse: Parse, words: Sequence[str], tags: Tags, constraints: Sequence[tuple] = ()) -> list[str]:
        """Return all fields for the parser's own analysis of a sentence."""
        heads = self.heads_field(parse.tree)
        if self.nbest < 2 or parse.source == "flat":
            return [heads]
        others = self.analyser.beside(parse, words, tags, constraints)[1 : self.nbest]
        return [
            heads,
            *temperature_field(self.temperature),
            *(analysis_field(other.tree, other.score, self.heads_field(other.tree)) for other in others),
        ]
