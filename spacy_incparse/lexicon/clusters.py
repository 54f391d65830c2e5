"""Word clusters: the path of each word in a binary tree of distributional classes (Brown et al. 1992)."""

from __future__ import annotations

import hashlib
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from spacy_incparse.errors import ModelError
from spacy_incparse.files import unzip

MAX_WORDS = 100_000  # the most frequent words of a source to keep: a third of a megabyte in a model
_PLANES = 4  # bytes of a checksum or a cluster number


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
        gaps = np.diff(np.array(self.checksums, "<u4"), prepend=np.uint32(0))
        head = " ".join([str(len(self)), *self.paths]).encode("ascii")
        return zlib.compress(head + b"\n" + _to_planes(gaps) + _to_planes(np.array(self.places, "<u4")), 9)

    def checksum(self) -> str:
        """Return a checksum of the whole table, to tell tables apart."""
        return hashlib.sha256(self.to_bytes()).hexdigest()

    @classmethod
    def from_bytes(cls, data: bytes) -> Clusters:
        """Return the table in bytes from `to_bytes`. Raises ModelError for any other bytes."""
        try:
            head, _, rest = unzip(data, "the word clusters of the model are").partition(b"\n")
            length, *paths = head.decode("ascii").split()
            n_bytes = int(length) * _PLANES
            gaps, places = _from_planes(rest[:n_bytes]), _from_planes(rest[n_bytes:])
            table = cls(_array(np.cumsum(gaps, dtype="uint64").astype("uint32")), _array(places), tuple(paths))
            is_whole = len(gaps) == len(places) == int(length) and max(table.places, default=-1) < len(paths)
        except (zlib.error, ValueError) as error:
            raise ModelError(f"the word clusters of the model are damaged ({error})") from error
        if not is_whole:
            raise ModelError(f"the word clusters of the model are damaged: {length} words, {len(paths)} clusters")
        return table


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


def _to_planes(numbers: np.ndarray) -> bytes:
    """Return all low bytes, then all second bytes, ...: high bytes are nearly constant and compress well."""
    return np.ascontiguousarray(numbers, "<u4").view("uint8").reshape(-1, _PLANES).T.tobytes()


def _from_planes(data: bytes) -> np.ndarray:
    planes = np.frombuffer(data, dtype="uint8").reshape(_PLANES, -1)
    return np.ascontiguousarray(planes.T).view("<u4").reshape(-1)
