"""User-defined constraints: phrases that a tree must or must not contain."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any, NamedTuple

from spacy_incparse.errors import ConfigError


class Constraint(NamedTuple):
    """A phrase over the words from `start` up to but not including `end` that the tree must or must not contain.

    label: the label of the phrase; None stands for any label. The root TOP is always in the tree, and it satisfies a
    required phrase.
    """

    start: int
    end: int
    label: str | None = None
    is_required: bool = True


Constraints = Iterable[Constraint | tuple]
"""Constraints, or plain tuples with the same fields."""


def checked_constraints(constraints: Constraints, n_words: int) -> list[Constraint]:
    """Return the constraints without duplicates. Raises ConfigError if one is malformed or outside the sentence."""
    if isinstance(constraints, str) or not isinstance(constraints, Iterable):
        raise ConfigError(f"the constraints are {constraints!r}: they must be a list of Constraint")
    return list(dict.fromkeys(_checked(constraint, n_words) for constraint in constraints))


def _checked(constraint: Any, n_words: int) -> Constraint:
    if not isinstance(constraint, tuple | list) or not 2 <= len(constraint) <= len(Constraint._fields):
        raise ConfigError(f"{constraint!r} is not a constraint: pass Constraint(start, end, label, is_required)")
    found = Constraint(*constraint)
    are_whole = all(isinstance(bound, Integral) and not isinstance(bound, bool) for bound in found[:2])
    if not (are_whole and isinstance(found.label, str | None) and isinstance(found.is_required, bool)):
        raise ConfigError(
            f"{found} is not a valid constraint: start and end must be whole numbers, label a string or None, and "
            f"is_required a bool"
        )
    if not 0 <= found.start < found.end <= n_words:
        raise ConfigError(f"{found} is outside the sentence, which has {n_words} words")
    return found
