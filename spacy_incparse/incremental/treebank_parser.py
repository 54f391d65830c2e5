"""The common part of all parsers with a grammar of chains."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from spacy_incparse.incremental.grammar import Grammar
from spacy_incparse.incremental.moves import BracketConstraints, Moves
from spacy_incparse.parsing.choice import ChoosingParser
from spacy_incparse.parsing.parse import Constraint, is_about_root, may_be_met
from spacy_incparse.transforms.left_corner import slash_base
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.labels import ROOT

FIRST_SYMBOL = 2  # of the nonterminals, in the search (incremental/state.pxd)


class TreebankParser(ChoosingParser):
    """A parser with a model and the moves of its grammar; subclasses define the search."""

    model: Any
    """What it has learned from its treebank, with a `grammar` and the `heads` of the treebank."""
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
        labels = self.model.grammar.labels.nonterminal_ids
        phrases = {name: FIRST_SYMBOL + k for name, k in labels.items() if name != ROOT and slash_base(name) is None}
        return ConstrainedSearch(self._moves, phrases)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_bytes, (self.to_bytes(),)


def root_symbol(grammar: Grammar) -> int:
    """Return the search's symbol for the root label."""
    return FIRST_SYMBOL + grammar.labels.nonterminal_ids[ROOT]


Results = TypeVar("Results")
ANY = 0  # for the symbol of a label
WIDE_BEAM = 1000  # hypotheses after a word, if a search with fewer has found nothing


@dataclass(frozen=True)
class ConstrainedSearch:
    """The common part of searches under constraints.

    symbols: the symbols of the labels that a phrase may have, without the root's. The root is in every tree.
    """

    moves: Moves
    symbols: Mapping[str, int]

    def run(
        self,
        constraints: Sequence[Constraint],
        n_words: int,
        search: Callable[[BracketConstraints | None, bool], Results | None],
    ) -> tuple[Results | None, tuple[Constraint, ...]]:
        """Search under constraints; if that finds nothing, search under as many of them, in their order, as can be met.

        search: returns what it finds under limits, or None. With True it must keep more hypotheses than usual, because
        all of those that it kept may have reached a dead end. Returns what was found, and the constraints that were
        left out.
        """
        possible = [constraint for constraint in constraints if may_be_met(constraint, self.symbols, n_words)]
        limits, kept = self._limits(possible, n_words), possible
        found = search(limits, False)
        if found is None and limits is not None:
            found = search(limits, True)
        if found is None and limits is not None:
            kept = []
            for constraint in possible:
                if search(self._limits([*kept, constraint], n_words), False) is not None:
                    kept.append(constraint)
            found = search(self._limits(kept, n_words), False)
        return found, tuple(constraint for constraint in constraints if constraint not in kept)

    def _limits(self, constraints: Sequence[Constraint], n_words: int) -> BracketConstraints | None:
        """Return possible constraints in the form that the search needs; None if nothing is limited."""
        required: list[tuple[int, int, int]] = []
        forbidden: list[tuple[int, int, int]] = []
        for constraint in constraints:
            start, end, label, is_required = constraint
            if not is_about_root(constraint, n_words) and (label is None or label in self.symbols):
                bracket = start, end, ANY if label is None else self.symbols[label]
                (required if is_required else forbidden).append(bracket)
        return BracketConstraints(self.moves, n_words, required, forbidden) if required or forbidden else None
