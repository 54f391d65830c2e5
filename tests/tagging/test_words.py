import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_incparse.linear.words import word_shape
from spacy_incparse.tagging.words import (
    BOUNDARIES,
    FIELDS,
    MAX_LENGTH,
    TagDictionary,
    orient_quotes,
    shorten,
    word_fields,
    word_kind,
)
from tests.tagging.corpora import any_text


@pytest.mark.parametrize(
    ("word", "shape"), [("Mid-1990s", "Xx-dx"), ("", ""), ("U.S.", "X.X."), ("...", "."), ("éÉ", "xX")]
)
def test_shape(word, shape):
    assert word_shape(word) == shape


@pytest.mark.parametrize(
    ("word", "kind"), [("Oslo", "c"), ("NATO", "C"), ("I", "c"), ("iPod", "u"), ("F-16", "d-C"), ("cat", ""), ("", "")]
)
def test_kind(word, kind):
    assert word_kind(word) == kind


def test_fields_of_a_word():
    dictionary = TagDictionary({"saw": "VBD|NN"}, {})
    fields = dict(zip(FIELDS, word_fields("Saw", dictionary), strict=True))
    assert (fields["word"], fields["lower"]) == ("Saw", "saw")
    assert [fields[f"prefix{n}"] for n in range(1, 5)] == ["s", "sa", "saw", ""]
    assert [fields[f"suffix{n}"] for n in range(1, 6)] == ["w", "aw", "saw", "", ""]
    assert fields["folded"] == "VBD|NN"
    assert fields["known"] == "?caw"


@given(any_text)
def test_no_word_looks_like_a_boundary(word):
    fields = word_fields(word, TagDictionary())
    assert len(fields) == len(FIELDS)
    assert all(fields != boundary for boundary in BOUNDARIES)


@given(st.text(max_size=300))
def test_shortened_words_keep_their_ends(word):
    short = shorten(word)
    assert len(short) <= MAX_LENGTH
    assert word.startswith(short[:50])
    assert word.endswith(short[-50:])


def test_every_second_straight_quote_closes():
    assert orient_quotes(["a", '"', "b", '"', '"']) == ["a", "“", "b", "”", "“"]
    assert orient_quotes(("a", "'")) == ["a", "'"]


def test_the_dictionary_counts():
    sentences = [["a", "b", "c"]] * 9 + [["a", "b"]]
    tags = [["X", "Y", "Z"]] * 9 + [["Y", "Y"]]
    dictionary = TagDictionary.from_corpus(
        sentences, tags, class_min_count=10, class_min_share=0.1, only_min_count=9, only_min_share=0.95
    )
    assert dictionary.classes == {"a": "X|Y", "b": "Y"}
    assert dictionary.only_tags == {"b": "Y", "c": "Z"}
