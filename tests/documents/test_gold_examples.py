"""Gold trees for training and evaluation without a treebank file."""

import pytest
import spacy

import spacy_incparse
from spacy_incparse.errors import IncparseError, TreebankError
from spacy_incparse.trees.tree import Tree
from tests.small_pipeline import untrained

OWL = "(S (NP-SBJ (DT The) (JJ old) (NN owl)) (VP (VBD slept) (NP (-NONE- *T*-1))) (. .))"
MICE = "(TOP (S (NP (NNS Mice)) (VP (VBP run) (-LRB- -LRB-) (ADVP (RB fast)) (-RRB- -RRB-)) (. .)))"


@pytest.fixture
def nlp():
    return spacy.blank("en")


def words(doc):
    return [token.text for token in doc]


def test_an_example_has_the_normalized_tree_and_its_words(nlp):
    found = spacy_incparse.example(nlp, OWL)
    assert words(found.predicted) == words(found.reference) == ["The", "old", "owl", "slept", "."]
    assert [str(tree) for tree in found.reference._.trees] == [
        "(TOP (S (NP (DT The) (JJ old) (NN owl)) (VP (VBD slept)) (. .)))"
    ]
    assert [token.tag_ for token in found.reference] == ["DT", "JJ", "NN", "VBD", "."]
    assert found.predicted._.trees == ()
    assert words(spacy_incparse.example(nlp, MICE).predicted) == ["Mice", "run", "(", "fast", ")", "."]


def test_the_tokenizer_on_request(nlp):
    found = spacy_incparse.example(nlp, "(S (NP (PRP We)) (VP (MD ca) (RB n't) (VP (VB wait))) (. .))", tokenize=True)
    assert found.predicted.text == found.reference.text == "We can't wait."
    assert words(found.predicted) == words(nlp.make_doc("We can't wait."))
    assert not found.predicted.has_annotation("SENT_START")


@pytest.mark.parametrize(
    "given",
    [[OWL, MICE], f"{OWL}\n{MICE}", [Tree.from_string(OWL), MICE], iter([OWL, MICE])],
)
def test_several_trees(nlp, given):
    assert [words(found.reference)[0] for found in spacy_incparse.examples(nlp, given)] == ["The", "Mice"]


def test_one_tree_is_several_too(nlp):
    assert len(spacy_incparse.examples(nlp, OWL)) == len(spacy_incparse.examples(nlp, Tree.from_string(OWL))) == 1
    assert spacy_incparse.examples(nlp, []) == []


def test_a_node_of_a_larger_tree(nlp):
    node = Tree.from_string(MICE).phrases("S")[0]
    assert str(spacy_incparse.example(nlp, node).reference._.trees[0]).startswith("(TOP (S (NP (NNS Mice))")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("", "'' contains no tree"),
        ("(S (-NONE- *))", "no words except traces"),
        (OWL + MICE, "takes one tree, not 2: examples"),
        ([OWL, 3], "has to be a Tree, or brackets in a string, not 3"),
    ],
)
def test_what_is_no_tree(nlp, given, message):
    with pytest.raises(IncparseError, match=message):
        spacy_incparse.example(nlp, given)


def test_wrong_brackets_are_located(nlp):
    with pytest.raises(TreebankError, match=r"<string>.*1"):
        spacy_incparse.example(nlp, "(S (NP (NN owl)")


def test_a_forgotten_pipeline():
    with pytest.raises(IncparseError, match=r"first argument has to be a pipeline, as in example\(nlp, "):
        spacy_incparse.example(OWL, MICE)


SPOON = "(S (NP (PRP She)) (VP (VBD ate) (NP (NNS mice)) (PP (IN with) (NP (NNS spoons)))))"
BARN = "(S (NP (PRP She)) (VP (VBD saw) (NP (NP (NNS mice)) (PP (IN with) (NP (NNS tails))))))"


def test_training_and_evaluation():
    nlp = untrained()
    gold = spacy_incparse.examples(nlp, [SPOON, BARN])
    nlp.initialize(lambda: gold)
    assert nlp.update(gold, losses={})["incparse"] > 0
    for _ in range(8):
        nlp.update(gold)
    assert nlp.evaluate(gold)["const_f"] == 1
    wrong = spacy_incparse.example(nlp, SPOON.replace("ate", "saw").replace("spoons", "tails"))
    assert nlp.evaluate([wrong])["const_f"] < 1
    assert nlp.evaluate([spacy_incparse.example(nlp, SPOON, tokenize=True)])["const_f"] == 1
