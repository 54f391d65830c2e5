"""Masks that are computed when they are asked for: the loose ones rarely are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import overload

from spacy_incparse.chart.forests.span_states import SpanStates


class LazyMasks(Sequence[SpanStates]):
    """A sequence of `n_masks` masks; `compute` returns one by its index."""

    def __init__(self, n_masks: int, compute: Callable[[int], SpanStates]):
        self._masks: list[SpanStates | None] = [None] * n_masks
        self._compute = compute

    def __len__(self) -> int:
        return len(self._masks)

    @overload
    def __getitem__(self, index: int) -> SpanStates: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[SpanStates]: ...
    def __getitem__(self, index: int | slice) -> SpanStates | Sequence[SpanStates]:
        if isinstance(index, slice):
            places = range(len(self))[index]
            return LazyMasks(len(places), lambda k: self[places[k]])
        found = self._masks[index]
        if found is None:
            found = self._masks[index] = self._compute(range(len(self))[index])
        return found
