import json
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_incparse.linear import words as lexicon_words
from spacy_incparse.linear.words import Lexicon, word_class_of
from tests.tagging.corpora import any_text

SENTENCES = [["the", "otter", "swam"], ["the", "Otter", "sang"], ["the", "swam", "the", "the"]]


def lexicon(**settings):
    return Lexicon.from_sentences(SENTENCES, **settings)


def number(word, **settings):
    (value,), *_ = lexicon(**settings).encode([word])
    return value


@pytest.mark.parametrize(
    ("word", "word_class"),
    [
        ("otter", "x ter"),
        ("Otter", "Xx ter"),
        ("OTTER", "X ter"),
        ("McBride", "XxXx ide"),
        ("1,024.5", "9,9.9 "),
        ("B-52s", "X-9x 52s"),
        ("", " "),
        ("?!?!", "?!?! "),
        ("Ærø", "Xx ærø"),
        ("猫", "x 猫"),
        ("٣", "9 "),
        ("🦦", "🦦 "),
        ("a1" * 10_000, "x9" * 20 + " "),
    ],
)
def test_word_classes(word, word_class):
    assert word_class_of(word) == word_class


def test_known_words_differ_and_rare_ones_look_like_their_class():
    assert number("swam") != number("swim")  # seen twice, never
    assert number("otter") == number("hunter")  # seen once, never: the same class
    assert number("Otter") != number("otter")
    assert number("otter", known_min_count=1) != number("hunter", known_min_count=1)
    _, classes, *_ = lexicon(common_min_count=2).encode(["swam", "otter", "never"])
    assert [bool(one) for one in classes] == [False, True, True]  # only rare words have a class besides


def test_a_word_is_not_its_class():
    """A word that is spelled like a class is another thing."""
    rare = lexicon().encode(["otter"])[0][0]
    assert Lexicon.from_sentences([["x ter", "x ter"]]).encode(["x ter"])[0][0] != rare


def test_numbers_are_checksums_that_no_version_changes():
    assert number("the") == zlib.crc32(b"the")
    assert number("otter") == zlib.crc32("\ue000x ter".encode())


@given(st.lists(st.text(max_size=12)), st.lists(any_text, max_size=8))
def test_any_text_has_numbers_of_32_bits(training, sentence):
    given_words = Lexicon.from_sentences([training, training])
    numbers, classes, *clusters = given_words.encode(sentence)
    assert len(numbers) == len(classes) == len(sentence)
    assert all(0 < n < 1 << 32 for n in numbers)
    assert all(0 <= n < 1 << 32 for n in classes)
    assert given_words.encode(sentence) == (numbers, classes, *clusters)
    assert clusters == [(0,) * len(sentence)] * 2


@given(st.lists(st.text(max_size=6)), st.integers(1, 4), st.integers(1, 4))
def test_storage(training, known, common):
    one = Lexicon.from_sentences([training], known_min_count=known, common_min_count=common)
    other = Lexicon.from_dict(json.loads(json.dumps(one.to_dict())))
    assert other.encode([*training, "new"]) == one.encode([*training, "new"])
    assert other.to_dict() == one.to_dict()


def test_the_memory_for_words_is_bounded(monkeypatch):
    monkeypatch.setattr(lexicon_words, "CACHE_SIZE", 3)
    small, large = lexicon(), lexicon()
    words = [f"word{k % 7}" for k in range(50)] + ["the", "swam"]
    assert [small.encode([word]) for word in words] == [large.encode([word]) for word in words]
    assert len(small._numbers) <= 3
    assert small.encode(words) == large.encode(words)
