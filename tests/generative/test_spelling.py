from collections import defaultdict
from itertools import product
from math import exp

import pytest

from spacy_incparse.generative.model import Vocabulary
from spacy_incparse.generative.spelling import EDGE, Spelling

CLASSES = [
    ["", "X", "X~", "Xx a", "Xx~", "x", "x a", "x-", "x9"],
    ["", "9", "?", "X9", "Xx^", "x", "x ab", "x b"],
    [""],
]
LONGEST = 4


def longer(spelling, behind, shape, ending, is_first):
    """The probability of all words of a class that have more than `LONGEST` characters, the last of them `behind`."""
    if len(behind) > LONGEST:
        return 1.0
    shares = spelling.shares(behind, shape, ending, is_first)
    return sum(
        shares[place] * longer(spelling, symbol + behind, shape, ending, is_first)
        for symbol, place in spelling.places.items()
        if symbol != EDGE and shares[place]
    )


@pytest.mark.parametrize("classes", CLASSES)
def test_the_shares_of_all_words_of_a_class_sum_to_one(monkeypatch, classes):
    monkeypatch.setattr("spacy_incparse.generative.spelling.KINDS", ())  # no characters but those that are seen
    vocabulary = Vocabulary(["a", "aa", "aA"], classes, (), ["Ab", "1b", "b-", "-1", "ba"])
    spelling = Spelling(vocabulary, {}, [3, 1, 1])
    alphabet = spelling.places.keys() - {EDGE}
    words = ["".join(letters) for n in range(1, LONGEST + 1) for letters in product(alphabet, repeat=n)]
    for is_first in (False, True):
        sums = defaultdict(float)
        for word in words:
            number = vocabulary.number(word, is_first)
            if not vocabulary.is_known(number):
                sums[number, vocabulary.shape_of(word, is_first)] += exp(
                    spelling.log_probability(word, number, is_first)
                )
        for (number, shape), total in sums.items():
            name = vocabulary.class_name(number)
            if not name:  # the class of several shapes
                total *= len(list(spelling.unnamed(number, is_first)))
            if "~" not in shape:
                total += longer(spelling, "", shape, name.partition(" ")[2], is_first)
            assert total == pytest.approx(1), (name, shape)


def test_counted_words_share_what_the_spelling_leaves():
    vocabulary = Vocabulary(["a"], ["", "x", "x b"], (), ["bb"])
    plain, counted = (Spelling(vocabulary, counts, [2]) for counts in ({}, {"bb": 5, "ab": 1, "ba": 3, "a": 9}))
    for word, count in (("bb", 5), ("ab", 1), ("abb", 0)):
        spelled, found = (exp(one.log_probability(word, 4, False)) for one in (plain, counted))
        assert found == pytest.approx((count + 2 * spelled) / (6 + 2))


@pytest.mark.parametrize(
    "word", ["\u212a", "STRASSE\u1e9e", "\u01c5", "x" * 3000, "\ud800", "\u24b6b", "\u4e2dA", "a\u0130"]
)
def test_every_string_has_some_probability(word):
    vocabulary = Vocabulary(["a", "k", "\u4e2da"], ["", "X k", "X", "Xx", "x"], (), [])
    spelling = Spelling(vocabulary, {}, [1, 1, 1])
    assert -1e6 < spelling.log_probability(word, vocabulary.number(word, False), False) < 0
