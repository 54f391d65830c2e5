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
Tagged = tuple[Sequence[str], Sequence[int]]  # a sentence's words, and the ids of their tags


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
        cls, sentences: Iterable[Tagged], *, known_min_count: int = 2, class_min_count: int = 20
    ) -> Vocabulary:
        """Read words and tag ids; words seen less than `known_min_count` times count only for their classes."""
        sentences = list(sentences)
        counts = Counter(word for words, _ in sentences for word in words)
        known = sorted(word for word, count in counts.items() if count >= known_min_count)
        vocabulary = cls(known, [""])
        rare: Counter[str] = Counter()
        for word, is_first, _ in _occurrences(sentences):
            if not vocabulary.is_known(vocabulary._number(word, is_first)):
                rare.update(vocabulary._class_names(word, is_first))
        kept = {name for name, count in rare.items() if count >= class_min_count}
        vocabulary = cls(known, sorted(kept | {""}))
        vocabulary.tags = vocabulary._possible_tags(sentences)
        return vocabulary

    def encode(self, words: Sequence[str]) -> list[int]:
        """Return the numbers of a sentence's words; each depends only on the words up to it.

        A first word that is only known in lower case has the number of that form.
        """
        firsts = _n_first(words)
        return [self._number(word, k < firsts) for k, word in enumerate(words)]

    def is_known(self, number: int) -> bool:
        """Return whether a number is that of a word, not of a class."""
        return number <= len(self.words)

    def class_number(self, word: str, is_first: bool) -> int:
        """Return the number of the class that the word would have if it were unknown."""
        key = word, is_first
        found = self._class_of.get(key)
        if found is None:
            if len(self._class_of) >= CACHE_SIZE:
                self._class_of.clear()
            found = self._class_of[key] = next(self._fitting_classes(word, is_first))
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the vocabulary in a form suitable for msgpack."""
        return {"words": list(self.words), "classes": list(self.classes), "tags": [list(row) for row in self.tags]}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Vocabulary:
        """Undo `to_dict`. Raises ModelError if a word is not a string."""
        check_texts(data["words"], "words")
        check_texts(data["classes"], "classes")
        return cls(data["words"], data["classes"], data["tags"])

    def _number(self, word: str, is_first: bool) -> int:
        found = self._word_numbers.get(word)
        if found is None and is_first:
            found = self._word_numbers.get(word.lower())
        return self.class_number(word, is_first) if found is None else found

    def _fitting_classes(self, word: str, is_first: bool) -> Iterator[int]:
        """Yield the numbers of all classes that the word fits, the most specific one first."""
        return (self._class_numbers[name] for name in self._class_names(word, is_first) if name in self._class_numbers)

    def _class_names(self, word: str, is_first: bool) -> Iterator[str]:
        """Yield the classes of a word from the most specific to "", which contains all words.

        The shape has the word's capitals, digits and hyphens: X, Xx, xX or x; 9; -; then ^ for a first word with
        capitals, and ~ for one that is known in lower case. The ending has up to `MAX_SUFFIX` letters.
        """
        letters = [character for character in word if character.isalpha()]
        capitals = sum(character.isupper() for character in letters)
        shape = "x" if letters else ""
        if capitals:
            shape = "X" if capitals == len(letters) else "Xx" if word[0].isupper() else "xX"
        shape += "9" * any(character.isdigit() for character in word) + "-" * ("-" in word)
        shape = (shape or "?") + "^" * (is_first and capitals > 0) + "~" * (word.lower() in self._word_numbers)
        if word[-1:].isalpha():
            for length in range(min(MAX_SUFFIX, len(word)), 0, -1):
                yield f"{shape} {word[-length:].lower()}"
        yield shape
        yield ""

    def _possible_tags(self, sentences: Sequence[Tagged]) -> tuple[tuple[int, ...], ...]:
        """Return the tags of each number; a class has those of all words that might have counted for it."""
        counts: list[Counter[int]] = [Counter() for _ in range(self.n_events + 1)]
        for word, is_first, tag in _occurrences(sentences):
            number = self._number(word, is_first)
            for one in [number] if self.is_known(number) else self._fitting_classes(word, is_first):
                counts[one][tag] += 1
        counts[0].update(tag for _, tags in sentences for tag in tags)
        counts = [row or counts[0] for row in counts]  # a treebank may have no rare words
        found = []
        for number, row in enumerate(counts):
            tags = set(row)
            if 1 <= number <= len(self.words) and row.total() <= RARE:  # also those of the words that look like it
                alike = counts[self.class_number(self.words[number - 1], False)]
                least = LIKELY * alike.total()
                tags.update(tag for tag, count in alike.items() if count >= least)
            found.append(tuple(sorted(tags, key=lambda tag: (-row[tag], tag))))
        return tuple(found)


def _n_first(words: Sequence[str]) -> int:
    """Count the words up to the first one with a letter or digit: they may have capitals only for their position."""
    has_text = (k for k, word in enumerate(words, 1) if any(character.isalnum() for character in word))
    return next(has_text, len(words))


def _occurrences(sentences: Iterable[Tagged]) -> Iterator[tuple[str, bool, int]]:
    """Yield the words of sentences, whether each may have a capital only for its position, and its tag."""
    for words, tags in sentences:
        firsts = _n_first(words)
        yield from ((word, k < firsts, tag) for k, (word, tag) in enumerate(zip(words, tags, strict=True)))
