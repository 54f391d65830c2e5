"""Iterative parameter mixing: parts of a pass are learned side by side, and their weights mixed (McDonald et al. 2010).

Each part starts from the same weights, learns from its sentences, and leaves its weights in a file. Their mixture is
where the next pass starts (figure 3). Everything is counted in whole numbers, so that the result depends neither on the
order in which parts are finished nor on the processes that learn them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from spacy_incparse.learning.weights import AveragedWeights

_STRETCH = 1 << 18  # weights mixed at once, to need little memory
_MOST_CHANGES = np.iinfo(np.uint16).max


class _Arrays(NamedTuple):
    """The weights of a learner: raw values, sums for the average, and how often each has changed."""

    table: np.ndarray
    sums: np.ndarray
    n_changes: np.ndarray  # empty if steps do not decay

    def stretches(self) -> Iterator[slice]:
        starts = range(0, len(self.table), _STRETCH)
        return (slice(start, start + _STRETCH) for start in starts)


class _Part(NamedTuple):
    """What a part of a pass has learned; the sums are over its own steps."""

    arrays: _Arrays
    n_steps: int


def write_start(weights: AveragedWeights, path: Path) -> None:
    """Write what a pass starts from: raw weights, and how often each has changed."""
    arrays = _arrays(weights)
    with path.open("wb") as file:
        arrays.table.tofile(file)
        arrays.n_changes.tofile(file)


def read_start(weights: AveragedWeights, path: Path) -> None:
    """Set weights to what `write_start` wrote; their average begins anew."""
    arrays = _arrays(weights)
    with path.open("rb") as file:
        for array in (arrays.table, arrays.n_changes):
            array[:] = np.fromfile(file, array.dtype, len(array))
    arrays.sums[:] = 0
    weights.count_steps(0)


def write_part(weights: AveragedWeights, path: Path) -> None:
    """Write what was learned since `read_start`."""
    with path.open("wb") as file:
        np.array([weights.n_steps], np.int64).tofile(file)
        for array in _arrays(weights):
            array.tofile(file)


def mix_parts(weights: AveragedWeights, paths: Sequence[Path]) -> None:
    """Set the weights that a pass started from to the mixture of what its parts have learned.

    Each weight moves by the mean of what the parts moved it by, weighted by how often each part changed it. A weight
    that one part has changed moves as far as it did there, so that rare features are learned as fast as in a single
    pass; with the same number of changes in all parts, it is the mean (uniform mixing). The average is over the weights
    after every sentence of all parts.
    """
    arrays = _arrays(weights)
    parts = [_read_part(path, arrays) for path in paths]
    n_before, n_after = weights.n_steps, weights.n_steps + sum(part.n_steps for part in parts)
    for here in arrays.stretches():
        before = arrays.table[here].astype(np.int64)
        moves = [part.arrays.table[here] - before for part in parts]
        changes = [_changes(part, arrays, here, move) for part, move in zip(parts, moves, strict=True)]
        after = before + _weighted_mean(moves, changes)
        # n * weights - sums is the sum of the weights after each of n steps: see `AveragedWeights`.
        totals = [part.n_steps * part.arrays.table[here].astype(np.int64) - part.arrays.sums[here] for part in parts]
        arrays.sums[here] += n_after * after - n_before * before - sum(totals)
        arrays.table[here] = after
        if len(arrays.n_changes):
            counted = arrays.n_changes[here] + -(-sum(changes) // len(parts))
            arrays.n_changes[here] = np.minimum(counted, _MOST_CHANGES)
    weights.count_steps(n_after)


def _changes(part: _Part, start: _Arrays, here: slice, moves: np.ndarray) -> np.ndarray:
    """Return how often a part has changed each weight; if that is not counted, 1 for those that it has moved."""
    if not len(start.n_changes):
        return (moves != 0).astype(np.int64)
    return part.arrays.n_changes[here].astype(np.int64) - start.n_changes[here]


def _weighted_mean(values: Sequence[np.ndarray], weights: Sequence[np.ndarray]) -> np.ndarray:
    """Return the weighted mean, rounded to the nearest whole number, a half away from zero; 0 without weights."""
    total = sum(value * weight for value, weight in zip(values, weights, strict=True))
    n = np.maximum(sum(weights), 1)
    return np.sign(total) * ((2 * np.abs(total) + n) // (2 * n))


def _arrays(weights: AveragedWeights) -> _Arrays:
    table, sums, n_changes = weights.views()
    return _Arrays(np.frombuffer(table, np.int16), np.frombuffer(sums, np.int64), np.frombuffer(n_changes, np.uint16))


def _read_part(path: Path, like: _Arrays) -> _Part:
    """Open what `write_part` wrote; it is read when it is used."""
    place, arrays = 8, []
    for array in like:
        is_stored = len(array) > 0  # nothing cannot be mapped
        arrays.append(np.memmap(path, array.dtype, "r", place, array.shape) if is_stored else array)
        place += array.nbytes
    return _Part(_Arrays(*arrays), int(np.fromfile(path, np.int64, 1)[0]))
