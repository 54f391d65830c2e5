import pickle
from itertools import count, repeat

import pytest

import spacy_incparse
from spacy_incparse.errors import IncparseError
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
    assert tree == parser.parse(tuple(WORDS)) == parser.parse(word for word in WORDS) == parser.parse(TEXT)
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


@pytest.mark.parametrize(
    ("sentence", "tags", "message"),
    [
        ([], None, "sentence without words"),
        ("  \n", None, "sentence without words"),
        (None, None, "a sentence has to be a text, or a list of words, not "),
        (["It", " "], None, "a word has to be a non-empty string"),
        (["It", 3], None, "a word has to be a non-empty string"),
        (["It", "rained"], ["PRP", ""], "a tag has to be a non-empty string"),
        (["It", "rained"], ["PRP", None], "a tag has to be a non-empty string"),
        (["It", "rained"], ["PRP"], "one tag for each of the words"),
        ("It rained", ["PRP", "VBD"], "one tag for each of the words"),
        (["a", "b"], "DT", "pass one tag for each of the words"),
    ],
)
def test_what_cannot_be_parsed(parser, sentence, tags, message):
    with pytest.raises(IncparseError, match=message):
        parser.parse(sentence, tags)


def test_tags_of_several_sentences(parser):
    with pytest.raises(IncparseError, match="one tag for each"):
        list(parser.parse_sents([["It"], ["Rain"]], [["PRP"]]))
    with pytest.raises(IncparseError, match="given as words"):
        list(parser.parse_sents("It rained.", [["PRP"]]))


def test_there_may_not_be_more_tags_than_sentences(parser):
    with pytest.raises(IncparseError, match="more lists than sentences"):
        list(parser.parse_sents([["Stop"]], [["VB"], ["NN"]]))
    found = parser.parse_sents([["Stop"]], [["VB"], ["NN"]])
    assert next(found).tags == ("VB",)  # what is right is not lost
    assert len(list(parser.parse_sents([["Stop"]], repeat(["VB"])))) == 1
