"""The best of spans of which some cross one another: those with the highest sum of gains that a tree can have."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence

Span = tuple[int, int]


def best_spans(gains: Mapping[Span, float]) -> list[Span]:
    """Return the spans of which no two cross and whose gains have the highest sum, sorted; only gains above 0 count.

    A span that crosses no other one is always among them. The others are few, and decided group by group.
    """
    spans = sorted((span for span, gain in gains.items() if gain > 0), key=lambda span: (span[0], -span[1]))
    neighbors = _crossing(spans)
    chosen = [span for span in spans if span not in neighbors]
    for group in _components(neighbors):
        chosen += _best_of_group(group, gains)
    return sorted(chosen, key=lambda span: (span[0], -span[1]))


def _crossing(spans: Sequence[Span]) -> dict[Span, list[Span]]:
    """Return for each span that crosses others all of these; `spans`: by start, longer ones first."""
    neighbors: dict[Span, list[Span]] = {}
    for place, (start, end) in enumerate(spans):
        for other in spans[place + 1 :]:
            if other[0] >= end:
                break
            if start < other[0] and end < other[1]:
                neighbors.setdefault((start, end), []).append(other)
                neighbors.setdefault(other, []).append((start, end))
    return neighbors


def _components(neighbors: Mapping[Span, Sequence[Span]]) -> Iterable[list[Span]]:
    """Yield groups of spans: those of different groups do not cross."""
    seen: set[Span] = set()
    for first in neighbors:
        if first in seen:
            continue
        seen.add(first)
        group = [first]
        for span in group:  # grows while it is read
            new = [other for other in neighbors[span] if other not in seen]
            seen.update(new)
            group += new
        yield group


def _best_of_group(group: Collection[Span], gains: Mapping[Span, float]) -> list[Span]:
    """Return the best spans of a group.

    value(s) = gain(s) + the highest sum of value(t) over disjoint t within s; shorter spans come first.
    """
    values: dict[Span, float] = {}
    parts: dict[Span, list[Span]] = {}
    for span in sorted(group, key=lambda span: (span[1] - span[0], span)):
        value, parts[span] = _best_disjoint([t for t in values if span[0] <= t[0] and t[1] <= span[1]], values)
        values[span] = gains[span] + value
    _, chosen = _best_disjoint(values, values)
    for span in chosen:  # grows while it is read
        chosen += parts[span]
    return chosen


def _best_disjoint(spans: Iterable[Span], values: Mapping[Span, float]) -> tuple[float, list[Span]]:
    """Return the highest sum of values of spans that do not overlap, and these spans (weighted interval scheduling)."""
    ordered = sorted(spans, key=lambda span: (span[1], span))
    ends = [end for _, end in ordered]
    sums, n_before = [0.0], []  # sums[k]: the best of the first k spans
    for place, span in enumerate(ordered):
        before = bisect_right(ends, span[0], 0, place)  # the spans that end before this one begins
        with_span = sums[before] + values[span]
        n_before.append(before if with_span > sums[-1] else -1)
        sums.append(max(with_span, sums[-1]))
    chosen: list[Span] = []
    left = len(ordered)
    while left:
        before = n_before[left - 1]
        if before >= 0:
            chosen.append(ordered[left - 1])
        left = before if before >= 0 else left - 1
    return sums[-1], chosen
