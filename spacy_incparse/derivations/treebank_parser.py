"""The common part of all parsers with a grammar of chains."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import Any, Protocol

from spacy_incparse.derivations.chains import Grammar
from spacy_incparse.derivations.constrained_search import ConstrainedSearch
from spacy_incparse.derivations.moves import Moves
from spacy_incparse.parsers.choice import ChoosingParser
from spacy_incparse.transforms.left_corner import slash_base
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.labels import ROOT

FIRST_SYMBOL = 2  # of the nonterminals, in the search (derivations/state.pxd)


class TreebankModel(Protocol):
    """The parts of a model that all kinds read from their treebank."""

    @property
    def grammar(self) -> Grammar:
        """Chains, triples and labels."""

    @property
    def heads(self) -> HeadRules:
        """The head rules."""


class TreebankParser(ChoosingParser):
    """A parser with a model and the moves of its grammar; subclasses define the search."""

    model: TreebankModel
    _moves: Moves

    @classmethod
    @abstractmethod
    def from_bytes(cls, data: bytes) -> TreebankParser:
        """Undo `to_bytes`. Raises ModelError for anything else."""

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags that the parser knows, most frequent first."""
        return tuple(self.model.grammar.labels.tag_ids)

    @property
    def labels(self) -> tuple[str, ...]:
        """The phrase labels that its trees may have, sorted."""
        return tuple(sorted(label for label in self.model.grammar.labels.nonterminal_ids if slash_base(label) is None))

    @property
    def heads(self) -> HeadRules:
        """The head rules of the treebank that it was trained on."""
        return self.model.heads

    @cached_property
    def _constrained(self) -> ConstrainedSearch:
        return ConstrainedSearch(self._moves, phrase_symbols(self.model.grammar))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_bytes, (self.to_bytes(),)


def root_symbol(grammar: Grammar) -> int:
    """Return the search's symbol for the root label."""
    return FIRST_SYMBOL + grammar.labels.nonterminal_ids[ROOT]


def phrase_symbols(grammar: Grammar) -> dict[str, int]:
    """Return the search's symbols for the labels that a phrase below the root may have."""
    labels = grammar.labels.nonterminal_ids
    return {label: FIRST_SYMBOL + k for label, k in labels.items() if label != ROOT and slash_base(label) is None}
