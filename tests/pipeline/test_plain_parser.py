"""Parsing without a spaCy pipeline in sight."""

import pickle
from itertools import count, repeat

import pytest

import spacy_incparse
from spacy_incparse.errors import IncparseError, ModelError
from spacy_incparse.trees.tree import Tree

WORDS = ["The", "old", "owl", "watched", "the", "mice", "."]
TEXT = "The old owl watched the mice."


@pytest.fixture(scope="module")
def parser():
    return spacy_incparse.Parser("en")


def test_words_and_text(parser):
    tree = parser.parse(WORDS)
    assert type(tree) is Tree
    assert tree.words == tuple(WORDS)
    assert tree == parser.parse(tuple(WORDS)) == parser.parse(TEXT)
    assert tree == spacy_incparse.load("en")(TEXT)._.trees[0]
    assert pickle.loads(pickle.dumps(tree)) == tree


def test_a_sentence_is_not_split(parser):
    assert parser.parse("It rained. We stayed.").words == ("It", "rained", ".", "We", "stayed", ".")
    assert len(list(parser.parse_sents("It rained. We stayed."))) == 2
    assert parser.parse(["Wait", ".", "What", "?"]).words == ("Wait", ".", "What", "?")


def test_several_sentences(parser):
    trees = list(parser.parse_sents([WORDS, "It rained.", ["No", "."]]))
    assert trees == [parser.parse(WORDS), parser.parse("It rained."), parser.parse(["No", "."])]
    assert list(parser.parse_sents([])) == list(parser.parse_sents("")) == []


def test_there_is_one_result_for_each_sentence(parser):
    """None for one without words; what a component thinks of sentences does not matter."""
    assert list(parser.parse_sents(["", [], " \n", WORDS]))[:3] == [None] * 3
    trees = parser.parse_sents(["It rained. It snowed.", []], None)
    assert [tree and len(tree.words) for tree in trees] == [6, None]


def test_sentences_are_read_when_they_are_needed(parser):
    trees = parser.parse_sents(["Number", str(number)] for number in count())
    assert [next(trees).words[1] for _ in range(3)] == ["0", "1", "2"]


def test_given_tags(parser):
    words, tags = ["Time", "flies", "."], ["NN", "NNS", "."]
    assert parser.parse(words, tags).tags == tuple(tags)
    (tree,) = parser.parse_sents([words], [["VB", "NNS", "."]])
    assert tree.tags == ("VB", "NNS", ".")
    assert parser.parse(words) == spacy_incparse.load("en")("Time flies.")._.trees[0]  # under its own tags again


@pytest.mark.parametrize("sentence", [[], "", "  \n"])
def test_nothing_to_parse(parser, sentence):
    with pytest.raises(IncparseError, match="sentence without words"):
        parser.parse(sentence)


@pytest.mark.parametrize("tag", ["", 3, None])
def test_what_is_no_tag(parser, tag):
    with pytest.raises(IncparseError, match="a tag has to be a non-empty string"):
        parser.parse(["It", "rained"], tags=["PRP", tag])


@pytest.mark.parametrize("word", ["", " ", 3, None])
def test_what_is_no_word(parser, word):
    with pytest.raises(IncparseError, match="a word has to be a non-empty string"):
        parser.parse(["It", word])


def test_tags_that_do_not_fit(parser):
    for sentence, tags in ((["It", "rained"], ["PRP"]), ("It rained", ["PRP", "VBD"])):
        with pytest.raises(IncparseError, match="one tag for each of the words"):
            parser.parse(sentence, tags)
    with pytest.raises(IncparseError, match="one tag for each"):
        list(parser.parse_sents([["It"], ["Rain"]], [["PRP"]]))
    with pytest.raises(IncparseError, match="given as words"):
        list(parser.parse_sents("It rained.", [["PRP"]]))


def test_no_such_model():
    with pytest.raises(ModelError):
        spacy_incparse.Parser("no_such_model")


def test_there_may_not_be_more_tags_than_sentences(parser):
    with pytest.raises(IncparseError, match="more lists than sentences"):
        list(parser.parse_sents([["Stop"]], [["VB"], ["NN"]]))
    found = parser.parse_sents([["Stop"]], [["VB"], ["NN"]])
    assert next(found).tags == ("VB",)  # what is right is not lost
    assert len(list(parser.parse_sents([["Stop"]], repeat(["VB"])))) == 1


def test_a_sentence_may_be_any_iterable_of_words(parser):
    assert parser.parse(word for word in ["It", "rained"]).words == ("It", "rained")


@pytest.mark.parametrize("sentence", [None, 3])
def test_what_is_no_sentence(parser, sentence):
    with pytest.raises(IncparseError, match="a sentence has to be a text, or a list of words, not "):
        parser.parse(sentence)


def test_a_text_is_no_list_of_tags(parser):
    with pytest.raises(IncparseError, match="pass one tag for each of the words"):
        parser.parse(["a", "b"], tags="DT")
