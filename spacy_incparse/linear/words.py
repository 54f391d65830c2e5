"""Numbering words: known words individually, rare ones by a class of shape and suffix."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from spacy_incparse.linear.clusters import Clusters

GROUP_LENGTH = 6  # bits of a cluster's path that form its group
CACHE_SIZE = 200_000  # words cached with their numbers


@dataclass(eq=False)
class Lexicon:
    """The words of a training treebank with their counts.

    Words seen at least `known_min_count` times are known; others share a number if their shape and suffix are equal.
    Words seen less than `common_min_count` times are rare: only these also have a class. Words in `clusters` have a
    cluster and a group of clusters.
    """

    counts: dict[str, int]
    known_min_count: int = 2
    common_min_count: int = 5
    clusters: Clusters | None = None
    _numbers: dict[str, tuple[int, int, int, int]] = field(default_factory=dict, init=False)

    @classmethod
    def from_sentences(cls, sentences: Iterable[Sequence[str]], **settings: Any) -> Lexicon:
        """Return the lexicon of the words in sentences."""
        return cls(Counter(word for sentence in sentences for word in sentence), **settings)

    def __post_init__(self) -> None:
        least = min(self.known_min_count, self.common_min_count)
        self.counts = {word: count for word, count in sorted(self.counts.items()) if count >= least}

    def extended(self, sentences: Iterable[Sequence[str]]) -> Lexicon:
        """Return a lexicon with the words of more sentences.

        Words that were known keep what features see of them; new ones are known as well, but none of them is common:
        nothing but their class has been learned so far.
        """
        counts = Counter(word for sentence in sentences for word in sentence)
        new = {word: min(count, self.common_min_count - 1) for word, count in counts.items() if word not in self.counts}
        return replace(self, counts=self.counts | new)

    def encode(self, words: Sequence[str]) -> tuple[tuple[int, ...], ...]:
        """Return four rows of 32-bit numbers: of the words, of their classes, of their clusters and of their groups.

        The class of a common word is 0, as are cluster and group of a word that has none.
        """
        cache = self._numbers
        if len(cache) >= CACHE_SIZE:
            cache.clear()
        for word in words:
            if word not in cache:
                count, path = self.counts.get(word, 0), self.clusters.path(word) if self.clusters else ""
                word_class = _checksum("\ue000" + word_class_of(word))  # a private-use character: classes are no words
                cache[word] = (
                    _checksum(word) if count >= self.known_min_count else word_class,
                    word_class if count < self.common_min_count else 0,
                    _checksum(path) if path else 0,
                    _checksum(path[:GROUP_LENGTH]) if path else 0,
                )
        return tuple(zip(*map(cache.__getitem__, words), strict=True)) or ((), (), (), ())

    def to_dict(self) -> dict[str, Any]:
        """Return the lexicon as a dict for JSON or msgpack, without clusters and with capped counts."""
        cap = max(self.known_min_count, self.common_min_count)
        return {
            "known_min_count": self.known_min_count,
            "common_min_count": self.common_min_count,
            "words": list(self.counts),
            "counts": [min(count, cap) for count in self.counts.values()],
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any], clusters: Clusters | None = None) -> Lexicon:
        """Return the lexicon in a dict from `to_dict`."""
        counts = dict(zip(data["words"], data["counts"], strict=True))
        return cls(counts, data["known_min_count"], data["common_min_count"], clusters)


def word_class_of(word: str) -> str:
    """Return the class of an unknown word: its shape with runs shortened, and its last three letters in lowercase."""
    suffix = word[-3:].lower() if word[-1:].isalpha() else ""
    return f"{word_shape(word[:40]).replace('d', '9')} {suffix}"


def word_shape(word: str) -> str:
    """Return the word with runs of capitals, other letters and digits as one X, x or d: "Xx-dx" for "Mid-1990s"."""
    shape = ""
    for letter in word:
        symbol = "d" if letter.isdigit() else "X" if letter.isupper() else "x" if letter.isalpha() else letter
        if not shape.endswith(symbol):
            shape += symbol
    return shape


def _checksum(text: str) -> int:
    # Surrogates from broken input cannot be encoded otherwise.
    return zlib.crc32(text.encode("utf8", "surrogatepass")) or 1
