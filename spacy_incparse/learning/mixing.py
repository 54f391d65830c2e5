"""Iterative parameter mixing: parts of a pass are learned side by side, and their weights mixed (McDonald et al. 2010).

Each part starts from the same weights, learns from its sentences, and leaves its weights in a file. Their mixture is
where the next parts start: those of the next pass (figure 3), or, in large treebanks, of the next round of the same
pass. Everything is counted in whole numbers, so that the result depends neither on the order in which parts are
finished nor on the processes that learn them.
"""

from __future__ import annotations

from collections.abc import Sequence
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

    def at(self, places: np.ndarray) -> _Arrays:
        return _Arrays(*(array[places] if len(array) else array for array in self))


class _Part(NamedTuple):
    """What a part has learned: the weights that it has changed, by their sorted places; sums are over its own steps."""

    places: np.ndarray
    arrays: _Arrays
    n_steps: int

    def changes(self, places: np.ndarray, start: _Arrays) -> _Changes:
        """Return how the weights at some places have changed since the start, which has those of the places alone."""
        first, last = np.searchsorted(self.places, (places[0], places[-1] + 1))
        own = np.searchsorted(places, self.places[first:last])
        moves, numbers, sums = (np.zeros(len(places), np.int64) for _ in range(3))
        moves[own] = self.arrays.table[first:last] - start.table[own].astype(np.int64)
        sums[own] = self.arrays.sums[first:last]
        if not len(start.n_changes):
            return _Changes(moves, (moves != 0).astype(np.int64), sums)
        numbers[own] = self.arrays.n_changes[first:last] - start.n_changes[own].astype(np.int64)
        return _Changes(moves, numbers, sums)


class _Changes(NamedTuple):
    """How a part has moved weights, how often it changed them (1 if that is not counted), and its sums."""

    moves: np.ndarray
    numbers: np.ndarray
    sums: np.ndarray


def write_start(weights: AveragedWeights, path: Path) -> None:
    """Write what parts start from: raw weights, and how often each has changed."""
    arrays = _arrays(weights)
    with path.open("wb") as file:
        arrays.table.tofile(file)
        arrays.n_changes.tofile(file)


def read_start(weights: AveragedWeights, path: Path) -> None:
    """Set weights to what `write_start` wrote; their average begins anew."""
    arrays = _arrays(weights)
    for array, found in zip((arrays.table, arrays.n_changes), _read_start(arrays, path), strict=True):
        array[:] = found
    arrays.sums[:] = 0
    weights.count_steps(0)


def write_part(weights: AveragedWeights, start: Path, path: Path) -> None:
    """Write what was learned since `read_start`, which has read the file `start`: few of all weights have changed."""
    arrays = _arrays(weights)
    table, n_changes = _read_start(arrays, start)
    has_changed = (arrays.table != table) | (arrays.sums != 0)
    if len(n_changes):
        has_changed |= arrays.n_changes != n_changes
    places = np.flatnonzero(has_changed)
    with path.open("wb") as file:
        np.array([weights.n_steps, len(places)], np.int64).tofile(file)
        for array in (places, *arrays.at(places)):
            array.tofile(file)


def mix_parts(weights: AveragedWeights, paths: Sequence[Path]) -> None:
    """Set the weights that parts started from to the mixture of what they have learned.

    Each weight moves by the mean of what the parts moved it by, weighted by how often each part changed it. A weight
    that one part has changed moves as far as it did there, so that rare features are learned as fast as in a single
    pass; with the same number of changes in all parts, it is the mean (uniform mixing). The average is over the weights
    after every sentence of all parts.
    """
    arrays = _arrays(weights)
    parts = [_read_part(path, arrays) for path in paths]
    n_before, n_after = weights.n_steps, weights.n_steps + sum(part.n_steps for part in parts)
    changed = np.unique(np.concatenate([part.places for part in parts]))
    for first in range(0, len(changed), _STRETCH):
        places = changed[first : first + _STRETCH]
        start = arrays.at(places)
        found = [part.changes(places, start) for part in parts]
        before, n_changes = start.table.astype(np.int64), [changes.numbers for changes in found]
        after = before + _weighted_mean([changes.moves for changes in found], n_changes)
        # n * weights - sums is the sum of the weights after each of n steps: see `AveragedWeights`.
        totals = [
            part.n_steps * (before + changes.moves) - changes.sums for part, changes in zip(parts, found, strict=True)
        ]
        arrays.sums[places] += n_after * after - n_before * before - sum(totals)
        arrays.table[places] = after
        if len(arrays.n_changes):
            counted = start.n_changes + -(-sum(n_changes) // len(parts))
            arrays.n_changes[places] = np.minimum(counted, _MOST_CHANGES)
    weights.count_steps(n_after)


def _weighted_mean(values: Sequence[np.ndarray], weights: Sequence[np.ndarray]) -> np.ndarray:
    """Return the weighted mean, rounded to the nearest whole number, a half away from zero; 0 without weights."""
    total = sum(value * weight for value, weight in zip(values, weights, strict=True))
    n = np.maximum(sum(weights), 1)
    return np.sign(total) * ((2 * np.abs(total) + n) // (2 * n))


def _arrays(weights: AveragedWeights) -> _Arrays:
    table, sums, n_changes = weights.views()
    return _Arrays(np.frombuffer(table, np.int16), np.frombuffer(sums, np.int64), np.frombuffer(n_changes, np.uint16))


def _read_start(like: _Arrays, path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the raw weights and the numbers of changes that `write_start` wrote."""
    with path.open("rb") as file:
        table, n_changes = (np.fromfile(file, array.dtype, len(array)) for array in (like.table, like.n_changes))
    return table, n_changes


def _read_part(path: Path, like: _Arrays) -> _Part:
    """Return what `write_part` wrote."""
    with path.open("rb") as file:
        n_steps, n_places = map(int, np.fromfile(file, np.int64, 2))
        places = np.fromfile(file, np.int64, n_places)
        arrays = _Arrays(*(np.fromfile(file, array.dtype, n_places if len(array) else 0) for array in like))
    return _Part(places, arrays, n_steps)
