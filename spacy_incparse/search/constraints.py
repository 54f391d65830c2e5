"""Brackets that a tree must have, or must not have, as a user gives them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from spacy_incparse.search.limits import Limits
from spacy_incparse.search.moves import Moves

Results = TypeVar("Results")
ANY = 0  # for the symbol of a label


class Constraint(NamedTuple):
    """A phrase over the words from `start` to before `end` that must be in the tree, or must not.

    label: of the phrase; None: any. The root TOP is there in any case, and counts where a phrase is required.
    """

    start: int
    end: int
    label: str | None = None
    is_required: bool = True


Constraints = Iterable[Constraint | tuple]
"""Constraints, or plain tuples with their fields."""


def checked(constraints: Constraints, n_words: int) -> list[Constraint]:
    """Give constraints on a sentence, each once. Raises ValueError for one that is not on its words."""
    found = [Constraint(*constraint) for constraint in constraints]
    for constraint in found:
        if not 0 <= constraint.start < constraint.end <= n_words:
            raise ValueError(f"{constraint} is no phrase of a sentence of {n_words} words")
    return list(dict.fromkeys(found))


def satisfies(spans: Iterable[tuple[str, int, int]], constraint: Constraint) -> bool:
    """Say whether a tree with these phrases, see `Tree.spans`, satisfies a constraint; the root comes first."""
    root, *below = spans
    label = constraint.label
    among = [root, *below] if constraint.is_required or label is not None else below
    found = any((start, end) == constraint[:2] and (label is None or label == own) for own, start, end in among)
    return found == constraint.is_required


def compiled(
    constraints: Sequence[Constraint], moves: Moves, symbols: Mapping[str, int], root_label: str, n_words: int
) -> Limits | None:
    """Give constraints as the search asks for them; None where no tree at all can satisfy one of them.

    symbols: those of the labels that a phrase may have, without the root's. The root is in every tree.
    """
    required: list[tuple[int, int, int]] = []
    forbidden: list[tuple[int, int, int]] = []
    for start, end, label, is_required in constraints:
        is_root = (start, end) == (0, n_words) and label in ((None, root_label) if is_required else (root_label,))
        if is_root and is_required:
            continue
        if is_root or (is_required and label is not None and label not in symbols):
            return None
        if label is None or label in symbols:
            bracket = start, end, ANY if label is None else symbols[label]
            (required if is_required else forbidden).append(bracket)
    return Limits(moves, n_words, required, forbidden)


def search_under(
    constraints: Sequence[Constraint], search: Callable[[Sequence[Constraint]], Results | None]
) -> tuple[Results | None, tuple[Constraint, ...]]:
    """Search under constraints; where that finds nothing, under as many of them, in their order, as can be met.

    search: gives what is found under some constraints, None where that is nothing. Returns what was found, and the
    constraints that were left out.
    """
    found = search(constraints)
    if found is not None or not constraints:
        return found, ()
    kept: list[Constraint] = []
    unmet = []
    for constraint in constraints:
        if search([*kept, constraint]) is not None:
            kept.append(constraint)
        else:
            unmet.append(constraint)
    return search(kept), tuple(unmet)
