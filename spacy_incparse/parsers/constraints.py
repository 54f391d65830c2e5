"""User-defined constraints: phrases that a tree must or must not contain."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable
from numbers import Integral
from typing import Any, NamedTuple

from spacy_incparse.errors import ConfigError
from spacy_incparse.trees.labels import ROOT


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


def may_be_met(constraint: Constraint, labels: Container[str], n_words: int) -> bool:
    """Return whether some tree with phrases of these labels may meet a constraint."""
    if constraint.label == ROOT:
        return (constraint[:2] == (0, n_words)) == constraint.is_required
    return not constraint.is_required or constraint.label is None or constraint.label in labels


def is_about_root(constraint: Constraint, n_words: int) -> bool:
    """Return whether a constraint depends only on the root, so that it limits no search."""
    if constraint.label is None:
        return constraint.is_required and constraint[:2] == (0, n_words)
    return constraint.label == ROOT


def required_spans(constraints: Iterable[Constraint], unmet: Collection[Constraint]) -> list[tuple[int, int]]:
    """Return the spans of the required phrases that a tree has: those of all constraints but the `unmet` ones."""
    return [(one.start, one.end) for one in constraints if one.is_required and one not in unmet]


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
