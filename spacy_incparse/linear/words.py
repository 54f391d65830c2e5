"""Numbering words: known words individually, rare ones by a class of shape and suffix."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from spacy_incparse.linear.clusters import Clusters

GROUP_LENGTH = 6  # bits of a cluster's path that form its group
CACHE_SIZE = 200_000  # words cached with their numbers


class Lexicon:
    """The words of a training treebank with their counts.

    Words seen at least `known_min_count` times are known; others share a number if their shape and suffix are equal.
    Words seen less than `common_min_count` times are rare: only these also have a class. Words in `clusters` have a
    cluster and a group of clusters.
    """

    def __init__(
        self,
        counts: dict[str, int],
        *,
        known_min_count: int = 2,
        common_min_count: int = 5,
        clusters: Clusters | None = None,
    ):
        self.clusters = clusters
        self.known_min_count, self.common_min_count = known_min_count, common_min_count
        least = min(known_min_count, common_min_count)
        self.counts = {word: counts[word] for word in sorted(counts) if counts[word] >= least}
        self._numbers: dict[str, tuple[int, int]] = {}
        self._cluster_numbers: dict[str, tuple[int, int]] = {}

    @classmethod
    def from_sentences(cls, sentences: Iterable[Sequence[str]], **settings: Any) -> Lexicon:
        """Return the lexicon of the words in sentences."""
        return cls(Counter(word for sentence in sentences for word in sentence), **settings)

    def extended(self, sentences: Iterable[Sequence[str]]) -> Lexicon:
        """Return a lexicon with the words of more sentences.

        Words that were known keep what features see of them; new ones are known as well, but none of them is common:
        nothing but their class has been learned so far.
        """
        counts = Counter(word for sentence in sentences for word in sentence)
        new = {word: min(count, self.common_min_count - 1) for word, count in counts.items() if word not in self.counts}
        return Lexicon(
            self.counts | new,
            known_min_count=self.known_min_count,
            common_min_count=self.common_min_count,
            clusters=self.clusters,
        )

    def encode(self, words: Sequence[str]) -> tuple[list[int], list[int]]:
        """Return the number of each word and of its class (0 for common words); both are 32-bit."""
        numbers = self._numbers
        try:
            pairs = [numbers[word] for word in words]
        except KeyError:
            pairs = [self._number(word) for word in words]
        return [pair[0] for pair in pairs], [pair[1] for pair in pairs]

    def encode_clusters(self, words: Sequence[str]) -> tuple[list[int], list[int]] | None:
        """Return the 32-bit numbers of each word's cluster and its group (0 if it has none); None without clusters."""
        if not self.clusters:
            return None
        numbers = self._cluster_numbers
        if len(numbers) >= CACHE_SIZE:
            numbers.clear()
        pairs = [
            numbers.get(word) or numbers.setdefault(word, _number_path(self.clusters.path(word))) for word in words
        ]
        return [pair[0] for pair in pairs], [pair[1] for pair in pairs]

    def _number(self, word: str) -> tuple[int, int]:
        pair = self._numbers.get(word)
        if pair is None:
            if len(self._numbers) >= CACHE_SIZE:
                self._numbers.clear()
            count = self.counts.get(word, 0)
            word_class = _checksum("\ue000" + word_class_of(word))  # a private-use character: classes are no words
            pair = self._numbers[word] = (
                _checksum(word) if count >= self.known_min_count else word_class,
                word_class if count < self.common_min_count else 0,
            )
        return pair

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
        return cls(
            dict(zip(data["words"], data["counts"], strict=True)),
            known_min_count=data["known_min_count"],
            common_min_count=data["common_min_count"],
            clusters=clusters,
        )


def word_class_of(word: str) -> str:
    """Return the class of an unknown word: its shape with runs shortened, and its last three letters in lowercase."""
    shape: list[str] = []
    for character in word[:40]:
        kind = _kind(character)
        if not shape or shape[-1] != kind:
            shape.append(kind)
    suffix = word[-3:].lower() if word[-1:].isalpha() else ""
    return f"{''.join(shape)} {suffix}"


def _kind(character: str) -> str:
    if character.isupper():
        return "X"
    if character.isalpha():
        return "x"
    return "9" if character.isdigit() else character


def _number_path(path: str) -> tuple[int, int]:
    return (_checksum(path), _checksum(path[:GROUP_LENGTH])) if path else (0, 0)


def _checksum(text: str) -> int:
    # Surrogates from broken input cannot be encoded otherwise.
    return zlib.crc32(text.encode("utf8", "surrogatepass")) or 1
