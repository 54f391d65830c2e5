"""The words that the generative model generates: known words, and classes that represent all others.

Words seen once in training are unknown: the classes are estimated from them. A class is a shape and an ending, made
more general until it has been seen often enough; every string has one. The probability of an unknown word is therefore
that of any unknown word of its class.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from spacy_incparse.errors import check_texts

MAX_SUFFIX = 4  # letters
RARE, LIKELY = 20, 0.01  # a word seen this rarely may have any tag with this share among the words that look like it
CACHE_SIZE = 200_000  # words remembered with their class


class Vocabulary:
    """Known words and classes, numbered from 1: known words first. 0 means no word.

    tags: by number, the ids of the possible tags, most frequent first: those that it was seen with, and for a rare word
    also those of the words that look like it.
    """

    def __init__(self, words: Sequence[str], classes: Sequence[str], tags: Sequence[Sequence[int]] = ()):
        self.words, self.classes = tuple(words), tuple(classes)
        self.tags = tuple(tuple(row) for row in tags)
        self.n_events = len(self.words) + len(self.classes)
        self._word_numbers = {word: number for number, word in enumerate(self.words, 1)}
        self._class_numbers = {name: number for number, name in enumerate(self.classes, len(self.words) + 1)}
        self._class_of: dict[tuple[str, bool], int] = {}

    @classmethod
    def from_sentences(
        cls,
        sentences: Iterable[tuple[Sequence[str], Sequence[int]]],
        *,
        known_min_count: int = 2,
        class_min_count: int = 20,
    ) -> Vocabulary:
        """Read words and tag ids; words seen less than `known_min_count` times count only for their classes."""
        sentences = list(sentences)
        counts = Counter(word for words, _ in sentences for word in words)
        known = sorted(word for word, count in counts.items() if count >= known_min_count)
        vocabulary = cls(known, [""])
        rare: Counter[str] = Counter()
        for words, _ in sentences:
            firsts = n_first(words)
            for k, word in enumerate(words):
                if not vocabulary.is_known(vocabulary.number(word, k < firsts)):
                    rare.update(vocabulary._class_names(word, k < firsts))
        kept = {name for name, count in rare.items() if count >= class_min_count}
        vocabulary = cls(known, sorted(kept | {""}))
        vocabulary.tags = _tags_by_number(vocabulary, sentences)
        return vocabulary

    def encode(self, words: Sequence[str]) -> list[int]:
        """Return the numbers of a sentence's words; each depends only on the words up to it."""
        firsts = n_first(words)
        return [self.number(word, k < firsts) for k, word in enumerate(words)]

    def number(self, word: str, is_first: bool) -> int:
        """Return the number of a word; a first word that is only known in lower case has the number of that form."""
        found = self._word_numbers.get(word)
        if found is None and is_first:
            found = self._word_numbers.get(word.lower())
        return self.class_number(word, is_first) if found is None else found

    def class_number(self, word: str, is_first: bool) -> int:
        """Return the number of the class that the word would have if it were unknown."""
        key = word, is_first
        found = self._class_of.get(key)
        if found is None:
            if len(self._class_of) >= CACHE_SIZE:
                self._class_of.clear()
            names = (name for name in self._class_names(word, is_first) if name in self._class_numbers)
            found = self._class_numbers[next(names)]
            self._class_of[key] = found
        return found

    def class_numbers(self, word: str, is_first: bool) -> set[int]:
        """Return the numbers of all classes that the word fits."""
        return {self._class_numbers[name] for name in self._class_names(word, is_first) if name in self._class_numbers}

    def _class_names(self, word: str, is_first: bool) -> Iterator[str]:
        return class_names(word, is_first, word.lower() in self._word_numbers)

    def is_known(self, number: int) -> bool:
        """Return whether a number is that of a word, not of a class."""
        return number <= len(self.words)

    def name(self, number: int) -> str:
        """Return the word, or the name of the class in angle brackets."""
        if self.is_known(number):
            return self.words[number - 1]
        return f"<{self.classes[number - 1 - len(self.words)] or 'any'}>"

    def to_dict(self) -> dict[str, Any]:
        """Return the vocabulary in a form suitable for msgpack."""
        return {"words": list(self.words), "classes": list(self.classes), "tags": [list(row) for row in self.tags]}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Vocabulary:
        """Undo `to_dict`. Raises ModelError if a word is not a string."""
        check_texts(data["words"], "words")
        check_texts(data["classes"], "classes")
        return cls(data["words"], data["classes"], data["tags"])


def class_names(word: str, is_first: bool, known_in_lower_case: bool) -> Iterator[str]:
    """Yield the classes of a word from the most specific to "", which contains all words."""
    shape = _shape(word, is_first) + ("~" if known_in_lower_case else "")
    if word[-1:].isalpha():
        for length in range(min(MAX_SUFFIX, len(word)), 0, -1):
            yield f"{shape} {word[-length:].lower()}"
    yield shape
    yield ""


def _shape(word: str, is_first: bool) -> str:
    """Return the capitals, digits and hyphens of a word: X, Xx, xX or x; 9; -; and ^ at the end for the first word."""
    letters = [character for character in word if character.isalpha()]
    capitals = sum(character.isupper() for character in letters)
    if not capitals:
        shape = "x" if letters else ""
    elif capitals == len(letters):
        shape = "X"
    else:
        shape = "Xx" if word[0].isupper() else "xX"
    if any(character.isdigit() for character in word):
        shape += "9"
    if "-" in word:
        shape += "-"
    return (shape or "?") + ("^" if is_first and capitals else "")


def n_first(words: Sequence[str]) -> int:
    """Count the words up to the first one with a letter or digit: they may have capitals only for their position."""
    for k, word in enumerate(words, 1):
        if any(character.isalnum() for character in word):
            return k
    return len(words)


def _tags_by_number(
    vocabulary: Vocabulary, sentences: Iterable[tuple[Sequence[str], Sequence[int]]]
) -> tuple[tuple[int, ...], ...]:
    """Return the tags of each number; a class has those of all words that might have counted for it."""
    counts: list[Counter[int]] = [Counter() for _ in range(vocabulary.n_events + 1)]
    for words, tags in sentences:
        firsts = n_first(words)
        for k, (word, tag) in enumerate(zip(words, tags, strict=True)):
            number = vocabulary.number(word, k < firsts)
            numbers = {number} if vocabulary.is_known(number) else vocabulary.class_numbers(word, k < firsts)
            for number in numbers:
                counts[number][tag] += 1
    counts[0].update(tag for _, tags in sentences for tag in tags)
    counts = [row or counts[0] for row in counts]  # a treebank may have no rare words
    return tuple(
        _ranked(row, _likely_tags(counts, vocabulary, number) if row.total() <= RARE else ())
        for number, row in enumerate(counts)
    )


def _likely_tags(counts: Sequence[Counter[int]], vocabulary: Vocabulary, number: int) -> list[int]:
    """Return the other tags that a rare word may have, judging by the words that look like it."""
    if not 1 <= number <= len(vocabulary.words):
        return []
    row = counts[vocabulary.class_number(vocabulary.words[number - 1], False)]
    return [tag for tag, count in row.items() if count >= LIKELY * row.total()]


def _ranked(row: Counter[int], more: Iterable[int]) -> tuple[int, ...]:
    row = row + Counter()
    for tag in more:
        row[tag] += 0
    return tuple(sorted(row, key=lambda tag: (-row[tag], tag)))
