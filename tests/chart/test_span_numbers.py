"""The numbers of spans, against all spans in their order, and against the exact square root."""

from math import isqrt

import numpy as np

from spacy_incparse.chart.sentence import MAX_WORDS, span_bounds, span_number


def test_spans_are_numbered_by_their_ends_then_by_their_starts():
    spans = [(start, end) for end in range(1, 9) for start in range(end)]
    assert [span_number(start, end) for start, end in spans] == list(range(len(spans)))
    starts, ends = np.array(spans).T
    assert span_number(starts, ends).tolist() == list(range(len(spans)))


def test_bounds_are_those_of_the_number():
    numbers = [0, 1, 2, 3, *range(10**6 - 2000, 10**6), MAX_WORDS * (MAX_WORDS + 1) // 2 - 1]
    ends = [(1 + isqrt(8 * number + 1)) // 2 for number in numbers]
    starts = [number - end * (end - 1) // 2 for number, end in zip(numbers, ends, strict=True)]
    for integer in (np.int32, np.int64):
        assert [found.tolist() for found in span_bounds(np.array(numbers, integer))] == [starts, ends]


def test_no_spans_have_no_bounds():
    assert [found.tolist() for found in span_bounds(np.zeros(0, np.int64))] == [[], []]
