"""The tagger's weights as bytes: each context has cells, which are ascending tags with a value each.

What is likely depends on the context, so numbers are packed in the order of what is known when they are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from spacy_incparse.errors import ModelError
from spacy_incparse.integer_arrays import from_planes, order_by, pack, pack_gaps, unpack, unpack_gaps

_WHAT = "the tagger's weights"
_LARGEST = 2**15 - 1  # of a value
Arrays = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def pack_weights(keys: np.ndarray, lengths: np.ndarray, tags: np.ndarray, values: np.ndarray) -> dict[str, bytes]:
    """Return the arrays of `SparseWeights`, which `check_weights` accepts, as named bytes."""
    ends = np.cumsum(lengths)
    starts, order, others = ends - lengths, order_by(lengths), np.delete(values, ends - 1)
    gaps = [np.zeros(0, tags.dtype)]
    for cells in _later_cells(lengths):
        before = tags[cells - 1]
        gaps.append((tags[cells] - before - 1)[order_by(before)])
    # Updates take from one tag what they give another: sums are mostly 0, and replace the last value of each context.
    sums = np.add.reduceat(values, starts) if len(starts) else values
    return {
        "keys": pack_gaps(keys),
        "lengths": pack(lengths),
        "first_tags": pack(tags[starts[order]]),
        "tag_gaps": pack(np.concatenate(gaps)),
        "values": pack(others),
        "sums": pack(sums[order]),
    }


def unpack_weights(packed: Mapping[str, Any]) -> Arrays:
    """Undo `pack_weights`. Raises ModelError for damaged bytes."""
    keys = unpack_gaps(packed["keys"], "u4", _WHAT)
    lengths = unpack(packed["lengths"], "i4", _WHAT, len(keys))
    if lengths.min(initial=1) < 1:
        raise ModelError(f"{_WHAT} are damaged: they have contexts without a tag")
    ends, order = np.cumsum(lengths), order_by(lengths)
    return keys, lengths, _unpacked_tags(packed, lengths, ends, order), _unpacked_values(packed, lengths, ends, order)


def unpack_first_version(packed: Mapping[str, Any]) -> Arrays:
    """Return the arrays that the first version of the program packed."""
    gaps = from_planes(packed["gaps"], "u4", _WHAT)
    lengths, tags = (from_planes(packed[name], "u2", _WHAT).astype(np.int32) for name in ("lengths", "tags"))
    values = from_planes(packed["values"], "i2", _WHAT).astype(np.int32)
    return np.cumsum(gaps, dtype=np.uint32), lengths, tags, values


def _unpacked_tags(packed: Mapping[str, Any], lengths: np.ndarray, ends: np.ndarray, order: np.ndarray) -> np.ndarray:
    n_cells = int(ends[-1]) if len(ends) else 0
    gaps = unpack(packed["tag_gaps"], "i4", _WHAT, n_cells - len(ends))
    tags = np.zeros(n_cells, np.int32)
    tags[(ends - lengths)[order]] = unpack(packed["first_tags"], "i4", _WHAT, len(ends))
    n_read = 0
    for cells in _later_cells(lengths):
        before = tags[cells - 1]
        order = order_by(before)
        tags[cells[order]] = before[order] + 1 + gaps[n_read : n_read + len(cells)]
        n_read += len(cells)
    return tags


def _unpacked_values(packed: Mapping[str, Any], lengths: np.ndarray, ends: np.ndarray, order: np.ndarray) -> np.ndarray:
    n_cells = int(ends[-1]) if len(ends) else 0
    is_last = np.zeros(n_cells, bool)
    is_last[ends - 1] = True
    values = np.zeros(n_cells, np.int64)
    values[~is_last] = unpack(packed["values"], "i4", _WHAT, n_cells - len(ends))
    sums = np.zeros(len(ends), np.int64)
    sums[order] = unpack(packed["sums"], "i4", _WHAT, len(ends))
    if len(ends):
        values[ends - 1] = sums - np.add.reduceat(values, ends - lengths)
    if np.abs(values).max(initial=0) > _LARGEST:
        raise ModelError(f"{_WHAT} are damaged: they have values out of range")
    return values.astype(np.int32)


def _later_cells(lengths: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the places of all second cells of contexts, then of all third ones, and so on."""
    cells, left = np.cumsum(lengths) - lengths, lengths
    while len(longer := np.flatnonzero(left > 1)):
        cells, left = cells[longer] + 1, left[longer] - 1
        yield cells
