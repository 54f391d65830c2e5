import pytest
from spacy.tokens import Doc
from spacy.training import Example

import spacy_incparse
from spacy_incparse import Tree
from spacy_incparse.documents.gold import trees_to_docs
from spacy_incparse.errors import IncparseError


@pytest.fixture(scope="module")
def nlp():
    return spacy_incparse.load("en")


def test_a_tree_on_a_doc_scores_what_it_scored(nlp):
    doc = nlp("It rained. They watched the ship with binoculars.")
    component = nlp.get_pipe("incparse")
    for parses in doc._.parses(5):
        for parse in parses:
            scored = component.score(doc, parse.tree)
            assert scored.score == pytest.approx(parse.score, rel=1e-5)  # that of a Doc is stored to six figures
            assert scored.is_derived
            assert component.score(doc, str(parse.tree)) == component.score_tree(doc, parse.tree) == scored


def test_trees_of_a_treebank_are_normalised(nlp):
    doc = nlp("It rained.")
    raw = "((S (NP-SBJ (PRP It)) (VP (VBD rained) (NP (-NONE- *T*))) (. .)))"
    scored = nlp.get_pipe("incparse").score(doc, raw)
    assert scored.tree == Tree.from_string("(TOP (S (NP (PRP It)) (VP (VBD rained)) (. .)))")
    assert scored.score == pytest.approx(doc._.trees[0].score, rel=1e-5)


def test_tags_are_those_of_the_component_or_of_the_tree(nlp):
    doc = Doc(nlp.vocab, words=["They", "can", "fish", "."])
    tree = "(TOP (S (NP (PRP They)) (VP (VBP can) (NP (NN fish))) (. .)))"
    component = nlp.get_pipe("incparse")
    own, gold = component.score(doc, tree), component.score(doc, tree, gold_tags=True)
    assert own.tree.tags == ("PRP", "MD", "VB", ".")
    assert gold.tree.tags == ("PRP", "VBP", "NN", ".")
    assert gold.is_derived


def test_a_tree_of_the_doc_is_scored_in_its_own_sentence(nlp):
    component = nlp.get_pipe("incparse")
    words, tags = ["They", "can", "fish", "."], [["PRP", "MD", "VB", "."], ["PRP", "VBP", "NN", "."]]
    doc = Doc(nlp.vocab, words=2 * words, tags=tags[0] + tags[1], sent_starts=2 * [True, False, False, False])
    component.tags = "doc"
    try:
        component(doc)
        for tree, row in zip(doc._.trees, tags, strict=True):
            scored = component.score(doc, tree)
            assert list(scored.tree.tags) == row
            assert scored.score == pytest.approx(tree.score, rel=1e-5)
        assert list(component.score(doc, str(doc._.trees[1])).tree.tags) == tags[0]  # brackets: the first sentence
    finally:
        component.tags = "own"


def test_what_is_no_tree_is_refused(nlp):
    with pytest.raises(IncparseError, match="takes a Tree or its brackets as a string, not 5"):
        nlp.get_pipe("incparse").score(nlp("It rained."), 5)


def test_a_tree_of_other_words_is_refused(nlp):
    doc = nlp("It rained.")
    component = nlp.get_pipe("incparse")
    with pytest.raises(IncparseError, match="no sentence of the Doc has the words of the tree: 'It snowed'"):
        component.score(doc, "(TOP (S (NP (PRP It)) (VP (VBD snowed))))")
    with pytest.raises(IncparseError, match="no sentence of the Doc"):
        component.score(doc, doc._.trees[0][0][0])
    with pytest.raises(IncparseError, match="takes a Tree or its brackets as a string, not None"):
        component.score(doc)
    for wrong, kind in ((next(doc.sents), "Span"), (doc.text, "str"), (None, "NoneType")):
        with pytest.raises(IncparseError, match=f"takes a Doc and a tree of one of its sentences, not a {kind}"):
            component.score(wrong, doc._.trees[0])


def test_examples_are_scored_as_ever(nlp):
    (gold,) = trees_to_docs([Tree.from_string("(TOP (S (NP (PRP It)) (VP (VBD rained)) (. .)))")], nlp.vocab)
    example = Example(nlp("It rained ."), gold)
    assert nlp.get_pipe("incparse").score([example])["const_f"] == 1.0
    assert nlp.evaluate([example])["const_f"] == 1.0
