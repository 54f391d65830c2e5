"""What the parts of a chart parser pass to one another: sentences, examples, spans, and pieces of what is long."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np

from spacy_incparse.parsing.parse import Constraint, Tags
from spacy_incparse.trees.labels import ROOT

if TYPE_CHECKING:
    from spacy_incparse.chart.forest import Forest
    from spacy_incparse.chart.forest_builder import SpanStates

Mask: TypeAlias = "np.ndarray | Callable[[], SpanStates]"
"""What pruning leaves: uint8 (n_spans, n_states), 0 for what is left out; or what finds the states of each span."""


@dataclass(frozen=True)
class ChartSentence:
    """The words of a sentence; for each its tag, several with their distances from the best one, or None."""

    words: Sequence[str]
    tags: Tags


@dataclass(frozen=True)
class ChartExample:
    """A sentence to learn from.

    forest: never empty. gold: the edges of the gold tree in pre-order, int32, as `Forest.find` returns them. number:
    the sentence's place among those of a learner.
    """

    sentence: ChartSentence
    forest: Forest
    gold: np.ndarray
    number: int = 0


# Spans are numbered: they are sorted by their ends, then by their starts, as by `cell_of`.

MAX_WORDS = 1 << 13  # of a sentence, or a piece of one, whose spans have bounds
_FIRSTS = np.arange(MAX_WORDS) * np.arange(1, MAX_WORDS + 1) // 2  # the number of the first span with each end, from 1

Places = TypeVar("Places", int, np.ndarray)


def span_number(start: Places, end: Places) -> Places:
    """Return the number of a span, or of several, given as arrays."""
    return end * (end - 1) // 2 + start


def span_bounds(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the starts and ends of spans."""
    ends = np.searchsorted(_FIRSTS, numbers, side="right")
    return numbers - _FIRSTS[ends - 1], ends


# Sentences that are too long for one chart are parsed in pieces.


def pieces(words: Sequence[str], max_words: int) -> Iterator[tuple[int, int]]:
    """Yield the start and end of pieces with `max_words` at most, cut after punctuation where that is possible."""
    start = 0
    while len(words) - start > max_words:
        end = start + max_words
        places = range(end, start + max_words // 2, -1)
        marks = (place for place in places if not any(character.isalnum() for character in words[place - 1]))
        end = next(marks, end)
        yield start, end
        start = end
    yield start, len(words)


def within(constraints: Sequence[Constraint], start: int, end: int) -> list[Constraint]:
    """Return the constraints on a piece, relative to its first word."""
    return [
        constraint._replace(start=constraint.start - start, end=constraint.end - start)
        for constraint in constraints
        if start <= constraint.start and constraint.end <= end and constraint.label != ROOT
    ]
