"""Search under constraints: all of them if possible, otherwise as many as can be met."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from spacy_incparse.derivations.bracket_constraints import BracketConstraints
from spacy_incparse.derivations.moves import Moves
from spacy_incparse.parsers.constraints import Constraint, is_about_root, may_be_met

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
        kept = [constraint for constraint in constraints if may_be_met(constraint, self.symbols, n_words)]
        limits = self._limits(kept, n_words)
        found = search(limits, False)
        if found is None and limits is not None:
            found = search(limits, True)
        if found is None and limits is not None:
            kept = self._met(kept, n_words, search)
            found = search(self._limits(kept, n_words), False)
        return found, tuple(constraint for constraint in constraints if constraint not in kept)

    def _met(
        self,
        constraints: Sequence[Constraint],
        n_words: int,
        search: Callable[[BracketConstraints | None, bool], Results | None],
    ) -> list[Constraint]:
        """Return the constraints that can be met together with those before them."""
        kept: list[Constraint] = []
        for constraint in constraints:
            if search(self._limits([*kept, constraint], n_words), False) is not None:
                kept.append(constraint)
        return kept

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
