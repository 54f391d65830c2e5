"""The tagger as bytes: a message of settings and weights, each compressed by itself, in which damage is noticed."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import srsly

from spacy_incparse.errors import ModelError
from spacy_incparse.files import unzip
from spacy_incparse.integer_arrays import order_by, pack, pack_gaps, unpack, unpack_gaps

_RETRAIN = "copy the file again or retrain the tagger"


@dataclass(frozen=True)
class SparseWeights:
    """Contexts sorted by key, each with `lengths[c]` cells: ascending tag ids and nonzero integer weights."""

    keys: np.ndarray  # uint32
    lengths: np.ndarray  # int32
    tags: np.ndarray  # int32
    values: np.ndarray  # int32, in the range of int16

    def to_arguments(self) -> tuple[bytes, bytes, bytes, bytes]:
        """Return the arrays' bytes, which `Decoder.set_weights` takes."""
        return self.keys.tobytes(), self.lengths.tobytes(), self.tags.tobytes(), self.values.tobytes()


def pack_tagger(settings: Mapping[str, Any], weights: SparseWeights, clusters: bytes | None = None) -> bytes:
    """Return the model as bytes; the same model has the same bytes. `weights` are as `check_weights` wants them."""
    message = {
        # ASCII, so that any word can be written, even lone surrogates
        "settings": zlib.compress(json.dumps(settings).encode("ascii"), 6),
        **pack_weights(weights.keys, weights.lengths, weights.tags, weights.values),
    }
    if clusters is not None:
        message["clusters"] = clusters
    return srsly.msgpack_dumps(message)


def unpack_tagger(data: bytes) -> tuple[dict[str, Any], SparseWeights, bytes | None]:
    """Return the parts in bytes from `pack_tagger`. Raises ModelError for any others."""
    try:
        message = srsly.msgpack_loads(data)
        settings, weights = unzip(message["settings"], "the tagger's settings are"), unpack_weights(message)
        return json.loads(settings), SparseWeights(*weights), message.get("clusters")
    except ModelError:
        raise
    except Exception as error:  # msgpack raises many kinds
        raise ModelError(f"the tagger's bytes do not have the expected content ({error!r}): {_RETRAIN}") from error


def check_weights(weights: SparseWeights, n_tags: int) -> None:
    """Raise ModelError if the arrays are inconsistent, so that no lookup can leave them."""
    n_cells = len(weights.tags)
    if len(weights.keys) != len(weights.lengths) or weights.lengths.sum() != n_cells or len(weights.values) != n_cells:
        raise ModelError(f"the tagger's weights do not fit together: {len(weights.keys)} contexts, {n_cells} cells")
    if n_cells and (weights.tags.max() >= n_tags or weights.tags.min() < 0 or weights.lengths.min() < 1):
        raise ModelError(f"the tagger has weights for tags beyond its {n_tags}: {_RETRAIN}")
    if len(weights.keys) and (weights.keys[0] == 0 or not (weights.keys[1:] > weights.keys[:-1]).all()):
        raise ModelError(f"the tagger's contexts are not in order: {_RETRAIN}")


# What is likely depends on the context, so numbers are packed in the order of what is known when they are read.

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
