"""How words are spelled that the generative model does not know: the share that each has of its class."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from math import exp, log
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from spacy_incparse.generative.model import Vocabulary

ORDER = 5  # a character, and those behind it that it depends on
EDGE = "\n"  # behind a word and before it
KINDS = ("lower", "upper", "digit", "hyphen", "other")  # of characters; as a symbol, any that training has not seen
N_CHARACTERS = 0x110000
LETTERS = {"": (), "x": ("lower",), "X": ("upper",), "Xx": ("lower", "upper"), "xX": ("lower", "upper")}
"""The kinds of letters of a shape, by its capitals."""
CACHE_SIZE = 20_000  # contexts
LEAST = 1e-30  # probability
TINY = 1e-12  # what is not 0 only because of rounding
ODD_CAPITAL = 0.05  # probability of each capital of a known word after its first letter, as in tHe


class Spelling:
    """P(word | class) of unknown words, which sums to one over all words of a class (see `Vocabulary`).

    A word is spelled from its end, since classes have endings. Each character depends on the four behind it, as in the
    words of the vocabulary, by the interpolation of Witten & Bell (1991). A character that leads to another class has
    no probability, nor has the end of a word that is known or not of the class's shape; the others share theirs. Known
    words in other capitals, which have classes of their own, are as probable as they are frequent.

    counts: of words. Unknown ones have shares of their class by them: (count + t P(spelling)) / (n + t), where n tokens
        of t words of the class were counted (Witten & Bell again).
    totals: how often training has seen each known word, in the order of the vocabulary.
    """

    def __init__(self, vocabulary: Vocabulary, counts: Mapping[str, int], totals: Sequence[int]):
        self.vocabulary, self.counts = vocabulary, counts
        texts = (EDGE * (ORDER - 1) + word[::-1] + EDGE for word in {*vocabulary.words, *vocabulary.rare})
        grams = Counter(text[k : k + ORDER] for text in texts for k in range(len(text) - ORDER + 1))
        self._rows: defaultdict[str, Counter[str]] = defaultdict(Counter)  # symbols by the characters behind them
        for gram, count in grams.items():
            for k in range(ORDER):
                self._rows[gram[k:-1]][gram[-1]] += count
        endings = {character for name in vocabulary.classes for character in name.partition(" ")[2]}
        seen = {*self._rows[""], *endings, *map(str.upper, endings)} - {EDGE}
        self.places = {symbol: place for place, symbol in enumerate([*sorted(seen), *KINDS, EDGE])}
        self._kinds = [*map(_kind, sorted(seen)), *KINDS, "edge"]
        self._shares: dict[str, np.ndarray] = {}  # of all symbols before four characters
        self._masks: dict[tuple[str, str], tuple[np.ndarray, np.ndarray]] = {}  # by shape and ending
        self._forms: defaultdict[str, list[str]] = defaultdict(list)  # known words by what they are in lower case
        self._totals: defaultdict[str, dict[str, int]] = defaultdict(dict)  # of those in lower case, by shape
        for word, total in zip(vocabulary.words, totals, strict=True):
            self._forms[word.lower()].append(word)
            if word.islower():
                self._totals[vocabulary.shape_of(word, False)][word] = total
        self._known_by_class: dict[tuple[str, int], dict[str, int]] = {}

    def log_probability(self, word: str, number: int, is_first: bool) -> float:
        """Return the natural logarithm of P(word | class), given the class's number and if the word is a first one."""
        shape = self.vocabulary.shape_of(word, is_first)
        spelled = self._form(word, shape, number) if "~" in shape else self._spelled(word, shape, number, is_first)
        if not self.vocabulary.class_name(number):  # the class of all shapes without one, which are as probable
            spelled -= log(max(1, sum(1 for _ in self.unnamed(number, is_first))))
        n, types = self._counted[is_first].get(number, (0, 0))
        seen = self.counts.get(word, 0)
        if seen:
            return log((seen + types * exp(spelled)) / (n + types))
        return spelled + log(types / (n + types)) if n else spelled

    @cached_property
    def _counted(self) -> tuple[dict[int, tuple[int, int]], ...]:
        """How many tokens and words of each class were counted, by whether they are first ones."""
        found: tuple[dict[int, tuple[int, int]], ...] = {}, {}
        for is_first, groups in enumerate(found):
            for word, count in self.counts.items():
                number = self.vocabulary.number(word, bool(is_first))  # nothing asks for those of known words
                n, types = groups.get(number, (0, 0))
                groups[number] = n + count, types + 1
        return found

    def unnamed(self, number: int, is_first: bool) -> Iterator[str]:
        """Yield the shapes of the words of the class without a name."""
        for capitals, digit, hyphen in product(LETTERS, ("", "9"), ("", "-")):
            plain, has_capitals = capitals + digit + hyphen or "?", "upper" in LETTERS[capitals]
            for shape in (plain + "^" * (has_capitals and is_first), *[plain + "~"] * (has_capitals and not is_first)):
                if self.vocabulary.class_of(shape, "") == number and ("~" not in shape or self._known(shape, number)):
                    yield shape

    # Words that are not known in lower case either

    def _spelled(self, word: str, shape: str, number: int, is_first: bool) -> float:
        """Return the log of P(word | class, shape)."""
        ending = self.vocabulary.class_name(number).partition(" ")[2]
        result = 0.0
        for k in range(len(word), -1, -1):
            shares, symbol, n = self.shares(word[k:], shape, ending, is_first), word[k - 1] if k else EDGE, 1
            if symbol not in self.places:
                symbol, n = _kind(symbol), N_CHARACTERS
            result += log(max(shares[self.places[symbol]] / n, LEAST))
        return result

    def shares(self, behind: str, shape: str, ending: str, is_first: bool) -> np.ndarray:
        """Return the probabilities of all symbols before the last characters of a word of a class, by place."""
        if (shape, ending) not in self._masks:
            kinds = {"other", *LETTERS[shape.rstrip("?9-^")], *["digit"] * ("9" in shape), *["hyphen"] * ("-" in shape)}
            fits = np.array([kind in kinds for kind in self._kinds])
            longer = [f"{shape} {one.lower()}{ending}" in self.vocabulary.class_numbers for one in self.places]
            self._masks[shape, ending] = fits, fits & ~np.array(longer)
        fits, is_no_longer = self._masks[shape, ending]
        allowed = is_no_longer if len(behind) == len(ending) else fits
        if len(behind) < len(ending):
            allowed = fits & [symbol.lower() == ending[-1 - len(behind)] for symbol in self.places]
        elif behind and self.vocabulary.shape_of(behind, is_first) == shape:
            allowed = np.append(allowed[:-1], behind not in self.vocabulary.word_numbers)
        found = self._shares_before(behind[: ORDER - 1]) * allowed
        return found / max(found.sum(), LEAST)

    def _shares_before(self, behind: str) -> np.ndarray:
        """Return the probabilities of all symbols before up to four characters."""
        found = self._shares.get(behind)
        if found is None:
            if len(self._shares) >= CACHE_SIZE:
                self._shares.clear()
            context = EDGE * (ORDER - 1) + behind[::-1]
            found = np.full(len(self.places), 1 / len(self.places))
            for k in range(ORDER):
                row = self._rows.get(context[len(context) - k :], Counter())
                n = row.total() + len(row)
                found *= len(row) / n if n else 1
                for symbol, count in row.items():
                    found[self.places[symbol]] += count / n
            self._shares[behind] = found
        return found

    # Words that are known in lower case

    def _form(self, word: str, shape: str, number: int) -> float:
        """Return the log of P(word | class, shape): by the counts of what is known, and by the capitals."""
        known, form = self._known(shape, number), word.lower()
        left = max(self._left(form, shape), LEAST)
        return log(max(known.get(form, 0), LEAST) / max(sum(known.values()), 1) * _capitals_share(word) / left)

    def _known(self, shape: str, number: int) -> dict[str, int]:
        """Return the counts of known words that have unknown forms in a class and shape."""
        if (shape, number) not in self._known_by_class:
            self._known_by_class[shape, number] = {
                word: total
                for word, total in self._totals["x" + shape.lstrip("xX")].items()
                if self.vocabulary.class_of(shape, word) == number and self._left(word, shape) > TINY
            }
        return self._known_by_class[shape, number]

    def _left(self, word: str, shape: str) -> float:
        """Return the probability that a known word in other capitals is of a shape and not known."""
        same = [form for form in self._forms[word] if self.vocabulary.shape_of(form, False) == shape]
        return _shape_share(word, shape.rstrip("9-~")) - sum(map(_capitals_share, same))


def _kind(character: str) -> str:
    if character.isalpha():
        return "upper" if character.isupper() else "lower"
    return "digit" if character.isdigit() else "hyphen" if character == "-" else "other"


def _has_capital(character: str) -> bool:
    return len(character.upper()) == 1 and character.upper() != character


def _capitals_share(word: str) -> float:
    """Return the probability of the capitals after the first letter, for words that are not all capitals."""
    letters = [character for character in word[1:] if _has_capital(character.lower())]
    n = sum(map(str.isupper, letters))
    is_all = all(character.isupper() for character in word if character.isalpha())
    return 1.0 if is_all else ODD_CAPITAL**n * (1 - ODD_CAPITAL) ** (len(letters) - n)


def _shape_share(word: str, capitals: str) -> float:
    """Return the sum of `_capitals_share` over the forms of a word in lower case that have the capitals of a shape."""
    first, n = _has_capital(word[0]), sum(map(_has_capital, word[1:]))
    all_upper = first + n == sum(map(str.isalpha, word))
    if capitals == "X":
        return float(all_upper)
    if capitals == "Xx":
        return first * (1 - all_upper * ODD_CAPITAL**n)
    return 1 - (1 - ODD_CAPITAL) ** n - (all_upper and not first) * ODD_CAPITAL**n
