import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_incparse.errors import IncparseError
from spacy_incparse.trees.builder import make_tree
from spacy_incparse.trees.codec import decode, encode
from tests.strategies import deep_tree, normalised_trees, raw_trees

SENTENCE = make_tree(
    "TOP",
    [
        make_tree("S", [make_tree("NP", [make_tree("DT", "The"), make_tree("NN", "owl")]), make_tree("VBD", "slept")]),
        make_tree(".", "."),
    ],
)


def lay_out(tree, gaps):
    """Return the text that has the tree's words at the given gaps, and their offsets."""
    text, starts, ends = "", [], []
    for word, gap in zip(tree.words, gaps, strict=False):
        starts.append(len(text) + gap)
        text += " " * gap + word
        ends.append(len(text))
    return text, starts, ends


def test_the_string_is_the_documented_one():
    value = encode(SENTENCE, [0, 4, 8, 13], [3, 7, 13, 14], score=-41.25, source="beam")
    assert value == "1|b|-41.25|(TOP (S (NP DT NN) VBD) .)|.3,3,5.1"


def test_score_and_source_come_back():
    stored = decode(encode(SENTENCE, [0, 4, 8, 13], [3, 7, 13, 14], score=-41.25, source="relaxed"))
    assert (stored.score, stored.source) == (-41.25, "relaxed")
    given_tree = decode(encode(SENTENCE, [0, 4, 8, 13], [3, 7, 13, 14]))
    assert (given_tree.score, given_tree.source) == (None, "")


@given(st.one_of(normalised_trees(), raw_trees()), st.data())
def test_decode_inverts_encode(tree, data):
    n_words = len(tree.words)
    text, starts, ends = lay_out(tree, data.draw(st.lists(st.integers(0, 12), min_size=n_words, max_size=n_words)))
    value = encode(tree, starts, ends)
    stored = decode(json.loads(json.dumps(value)))
    assert stored.tree(text) == tree
    assert list(stored.char_starts) == starts
    assert list(stored.char_ends) == ends


@given(st.text(max_size=8), st.text(max_size=8))
def test_any_label_survives(phrase, tag):
    tree = make_tree(phrase, [make_tree(tag, "word")])
    assert decode(encode(tree, [0], [4])).tree("word") == tree


def test_deep_trees():
    tree = deep_tree(5000)
    text, starts, ends = lay_out(tree, [1] * len(tree.words))
    assert decode(encode(tree, starts, ends)).tree(text) == tree


def test_a_single_pos_node_is_a_tree():
    assert decode(encode(make_tree("UH", "oh"), [0], [2])).tree("oh") == make_tree("UH", "oh")


def test_further_fields_are_kept_as_they_are():
    value = encode(SENTENCE, [0, 4, 8, 13], [3, 7, 13, 14])
    longer = encode(SENTENCE, [0, 4, 8, 13], [3, 7, 13, 14], more=["p=0.5", ""])
    assert longer == value + "|p=0.5|"
    assert decode(longer).more == ("p=0.5", "")
    assert decode(longer) == decode(value)


def test_strings_of_the_first_release_are_read():
    stored = decode("1|r|-0.5|(TOP (NP-SBJ=2 % -LRB-%7C;) (A%20;B %28;) .)|+2.3.0,5+12.1")
    assert stored.labels == ("TOP", "NP-SBJ=2", "", "-LRB-|", "A B", "(", ".")
    assert stored.sizes == (7, 3, 1, 1, 2, 1, 1)
    assert (stored.char_starts, stored.char_ends) == ((2, 5, 6, 23), (5, 5, 11, 24))
    assert (stored.score, stored.source) == (-0.5, "relaxed")


def test_another_version_is_refused():
    with pytest.raises(IncparseError, match="format '2'"):
        decode("2|b||(TOP NN)|.3")


@pytest.mark.parametrize(
    "value",
    [
        "1|b",
        "1|b||(TOP NN|.3",
        "1|b||(TOP NN))|.3",
        "1|b||(TOP)|",
        "1|b||NN NN|.3,3",
        "1|b||(TOP (NN)|.3",
        "1|b||(TOP NN)|.3,4",
        "1|b||(TOP NN)|.3,",
        "1|b||(TOP NN)|x3",
        "1|b||(TOP N%FFFFFFFFFF;)|.3",
        "1|b|many|(TOP NN)|.3",
        "1|q||NN|.3",
    ],
)
def test_damage_is_told(value):
    with pytest.raises(IncparseError, match="damaged"):
        decode(value)


def test_offsets_must_fit_the_leaves():
    with pytest.raises(ValueError, match="4 leaves"):
        encode(SENTENCE, [0, 4], [3, 7])
    with pytest.raises(ValueError, match="text order"):
        encode(SENTENCE, [4, 0, 8, 13], [7, 3, 13, 14])
