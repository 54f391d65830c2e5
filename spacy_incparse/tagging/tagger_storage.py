"""The tagger as bytes: a magic word, a checksum, and a compressed message of settings and weights."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import srsly

from spacy_incparse.errors import ModelError
from spacy_incparse.files import unzip

MAGIC = b"incparse-tagger\x01"  # the last byte is the version of the format
_DIGEST_SIZE = 16
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


def pack(settings: Mapping[str, Any], weights: SparseWeights, clusters: bytes | None = None) -> bytes:
    """Return the model as bytes; the same model has the same bytes."""
    gaps = np.diff(weights.keys, prepend=np.uint32(0))
    message = {
        "settings": json.dumps(settings),  # ASCII, so that any word can be written, even lone surrogates
        "gaps": _to_planes(gaps, "<u4"),
        "lengths": _to_planes(weights.lengths, "<u2"),
        "tags": _to_planes(weights.tags, "<u2"),
        "values": _to_planes(weights.values, "<i2"),
    }
    if clusters is not None:
        message["clusters"] = clusters
    body = zlib.compress(srsly.msgpack_dumps(message), 6)  # 9 takes ten times as long for 1%
    return MAGIC + _digest(body) + body


def unpack(data: bytes) -> tuple[dict[str, Any], SparseWeights, bytes | None]:
    """Return the parts in bytes from `pack`. Raises ModelError if they are not a complete tagger of this format."""
    if data[: len(MAGIC) - 1] != MAGIC[:-1]:
        raise ModelError(f"these {len(data)} bytes are not a tagger: they do not begin like a tagger file")
    if data[: len(MAGIC)] != MAGIC:
        version = data[len(MAGIC) - 1] if len(data) >= len(MAGIC) else "missing"
        raise ModelError(f"the tagger has format version {version}, but this program reads {MAGIC[-1]}: train it again")
    digest, body = data[len(MAGIC) : len(MAGIC) + _DIGEST_SIZE], data[len(MAGIC) + _DIGEST_SIZE :]
    if digest != _digest(body):
        raise ModelError(f"the tagger's {len(data)} bytes are damaged (checksum differs): {_RETRAIN}")
    try:
        return _read_message(srsly.msgpack_loads(unzip(body, "the tagger's weights are")))
    except ModelError:
        raise
    except (KeyError, TypeError, ValueError) as error:
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


def _read_message(message: dict[str, Any]) -> tuple[dict[str, Any], SparseWeights, bytes | None]:
    gaps = _from_planes(message["gaps"], "<u4")
    weights = SparseWeights(
        keys=np.cumsum(gaps, dtype="uint64").astype("uint32"),
        lengths=_from_planes(message["lengths"], "<u2").astype("int32"),
        tags=_from_planes(message["tags"], "<u2").astype("int32"),
        values=_from_planes(message["values"], "<i2").astype("int32"),
    )
    return json.loads(message["settings"]), weights, message.get("clusters")


def _digest(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=_DIGEST_SIZE).digest()


def _to_planes(numbers: np.ndarray, dtype: str) -> bytes:
    """Return all low bytes, then all second bytes, ...: high bytes are nearly constant and compress well."""
    octets = np.ascontiguousarray(numbers, dtype=dtype).view("uint8")
    return octets.reshape(-1, np.dtype(dtype).itemsize).T.tobytes()


def _from_planes(data: bytes, dtype: str) -> np.ndarray:
    planes = np.frombuffer(data, dtype="uint8").reshape(np.dtype(dtype).itemsize, -1)
    return np.ascontiguousarray(planes.T).view(dtype).reshape(-1)
