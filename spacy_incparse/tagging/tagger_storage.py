"""The tagger as bytes: a magic word, a checksum, and a message of settings and weights, each compressed by itself."""

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
from spacy_incparse.tagging.weight_storage import pack_weights, unpack_first_version, unpack_weights

MAGIC = b"incparse-tagger\x02"  # the last byte is the version of the format
_FIRST_MAGIC = b"incparse-tagger\x01"
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
    """Return the model as bytes; the same model has the same bytes. `weights` are as `check_weights` wants them."""
    message = {
        # ASCII, so that any word can be written, even lone surrogates
        "settings": zlib.compress(json.dumps(settings).encode("ascii"), 6),
        **pack_weights(weights.keys, weights.lengths, weights.tags, weights.values),
    }
    if clusters is not None:
        message["clusters"] = clusters
    body = srsly.msgpack_dumps(message)
    return MAGIC + _digest(body) + body


def unpack(data: bytes) -> tuple[dict[str, Any], SparseWeights, bytes | None]:
    """Return the parts in bytes from `pack`. Raises ModelError if they are not a complete tagger of this format."""
    if data[: len(MAGIC) - 1] != MAGIC[:-1]:
        raise ModelError(f"these {len(data)} bytes are not a tagger: they do not begin like a tagger file")
    magic = data[: len(MAGIC)]
    if magic not in (MAGIC, _FIRST_MAGIC):
        version = data[len(MAGIC) - 1] if len(data) >= len(MAGIC) else "missing"
        raise ModelError(f"the tagger has format version {version}, but this program reads 1 and 2: train it again")
    digest, body = data[len(MAGIC) : len(MAGIC) + _DIGEST_SIZE], data[len(MAGIC) + _DIGEST_SIZE :]
    if digest != _digest(body):
        raise ModelError(f"the tagger's {len(data)} bytes are damaged (checksum differs): {_RETRAIN}")
    try:
        if magic == _FIRST_MAGIC:
            message = srsly.msgpack_loads(unzip(body, "the tagger's weights are"))
            settings, weights = message["settings"], unpack_first_version(message)
        else:
            message = srsly.msgpack_loads(body)
            settings, weights = unzip(message["settings"], "the tagger's settings are"), unpack_weights(message)
        return json.loads(settings), SparseWeights(*weights), message.get("clusters")
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


def _digest(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=_DIGEST_SIZE).digest()
