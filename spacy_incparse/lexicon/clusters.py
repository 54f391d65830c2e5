"""Word clusters: the path of each word in a binary tree of distributional classes (Brown et al. 1992)."""

from __future__ import annotations

import hashlib
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import srsly

from spacy_incparse.errors import ModelError
from spacy_incparse.files import unzip
from spacy_incparse.integer_arrays import from_planes, pack, pack_gaps, unpack, unpack_gaps

MAX_WORDS = 100_000  # the most frequent words of a source to keep: a third of a megabyte in a model
_WHAT = "the word clusters of the model"


class Clusters:
    """Words with their paths, strings of "0" and "1": clusters that share a long prefix are similar.

    Words are stored only as 32-bit checksums, to keep the table small: of a million words that are not among its
    100,000, about 20 get another word's cluster. `checksums` are sorted; `places` are the words' indices in `paths`.
    """

    def __init__(self, checksums: array, places: array, paths: tuple[str, ...]):
        self.checksums, self.places, self.paths = checksums, places, paths

    @classmethod
    def from_paths(cls, words: Iterable[tuple[str, str]]) -> Clusters:
        """Return the table of (word, path) pairs; of words that are equal or share a checksum, the first counts."""
        found: dict[int, str] = {}
        for word, path in words:
            found.setdefault(_checksum(word), path)
        paths = sorted(set(found.values()))
        numbers = {path: number for number, path in enumerate(paths)}
        checksums = sorted(found)
        return cls(array("I", checksums), array("I", [numbers[found[c]] for c in checksums]), tuple(paths))

    def __len__(self) -> int:
        return len(self.checksums)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Clusters) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((len(self.checksums), self.paths))

    def path(self, word: str) -> str:
        """Return the path of a word, or else of its lowercase form, or else ""."""
        return self._find(word) or self._find(word.lower())

    def _find(self, word: str) -> str:
        checksum = _checksum(word)
        place = bisect_left(self.checksums, checksum)
        if place < len(self.checksums) and self.checksums[place] == checksum:
            return self.paths[self.places[place]]
        return ""

    def to_bytes(self) -> bytes:
        """Return the table as compressed bytes, about 3.5 per word; equal tables have equal bytes."""
        content = {
            "paths": zlib.compress(" ".join(self.paths).encode("ascii"), 9),
            "checksums": pack_gaps(np.array(self.checksums, np.uint32)),
            "places": pack(np.array(self.places, np.uint32)),
        }
        return srsly.msgpack_dumps(content)

    def checksum(self) -> str:
        """Return a checksum of the whole table, to tell tables apart."""
        return hashlib.sha256(self.to_bytes()).hexdigest()

    @classmethod
    def from_bytes(cls, data: bytes) -> Clusters:
        """Return the table in bytes from `to_bytes`. Raises ModelError for any other bytes."""
        try:
            is_old = data[:1] == b"x"  # of the first versions: one zlib stream
            head, checksums, places = _read_old(data) if is_old else _read(data)
            paths = tuple(head.decode("ascii").split())
        except (ValueError, KeyError, TypeError) as error:
            raise ModelError(f"{_WHAT} are damaged ({error})") from error
        if len(checksums) != len(places) or (len(places) and places.max() >= len(paths)):
            raise ModelError(f"{_WHAT} are damaged: {len(checksums)} words, {len(paths)} clusters")
        return cls(_array(checksums), _array(places), paths)


def stored_clusters(content: Mapping[str, Any], others: Clusters | None, *, are_needed: bool) -> Clusters | None:
    """Return the clusters of a stored parser: its own, or else those stored elsewhere in the model, if it needs any.

    Raises ModelError if there are none where they are needed.
    """
    if "clusters" in content:
        return Clusters.from_bytes(content["clusters"])
    if are_needed and not others:
        raise ModelError("the parser's word clusters are missing: copy the model again or train a new one")
    return others if are_needed else None


def _checksum(word: str) -> int:
    return zlib.crc32(word.encode("utf8", "surrogatepass"))


def _array(numbers: np.ndarray) -> array:
    made = array("I")
    made.frombytes(numbers.astype(f"u{made.itemsize}").tobytes())
    return made


def _read(data: bytes) -> tuple[bytes, np.ndarray, np.ndarray]:
    """Return paths, checksums and places."""
    content = srsly.msgpack_loads(data)
    checksums = unpack_gaps(content["checksums"], "u4", _WHAT)
    return unzip(content["paths"], f"{_WHAT} are"), checksums, unpack(content["places"], "u4", _WHAT, len(checksums))


def _read_old(data: bytes) -> tuple[bytes, np.ndarray, np.ndarray]:
    head, _, rest = unzip(data, f"{_WHAT} are").partition(b"\n")
    length, _, paths = head.partition(b" ")
    n_bytes = 4 * int(length)
    gaps, places = (from_planes(planes, "u4", _WHAT) for planes in (rest[:n_bytes], rest[n_bytes:]))
    return paths, np.cumsum(gaps, dtype=np.uint32), places
