"""The numbers of the spans of a sentence: they are sorted by their ends, then by their starts, as by `cell_of`."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

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
