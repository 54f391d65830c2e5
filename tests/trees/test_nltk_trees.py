import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_incparse.errors import IncparseError
from spacy_incparse.trees.tree import Tree
from tests.strategies import deep_tree, raw_trees

nltk_tree = pytest.importorskip("nltk.tree", reason="nltk is not installed")


@given(raw_trees())
def test_trees_come_back_from_nltk(tree):
    for node in tree.preorder():
        assert Tree.from_nltk(node.to_nltk()) == node


@given(raw_trees())
def test_nltk_says_the_same_of_a_tree(tree):
    theirs = tree.to_nltk()
    assert tuple(theirs.leaves()) == tree.words
    assert tuple(tag for _, tag in theirs.pos()) == tree.tags
    assert theirs.height() == tree.height + 2  # words are nodes there, and a word has height 1
    ours = [(rule.left, rule.right, rule.is_lexical) for rule in tree.productions()]
    assert ours == [(str(rule.lhs()), tuple(map(str, rule.rhs())), rule.is_lexical()) for rule in theirs.productions()]
    assert [node.label for node in tree.preorder()] == [node.label() for node in theirs.subtrees()]
    positions = theirs.treepositions("postorder")
    phrases = [theirs[position].label() for position in positions if isinstance(theirs[position], nltk_tree.Tree)]
    assert [node.label for node in tree.postorder()] == phrases


@given(raw_trees(), st.sampled_from(["left", "right"]), st.sampled_from([None, 0, 1, 2]))
def test_binary_branching_is_nltks_normal_form(tree, direction, horizontal):
    theirs = tree.to_nltk()
    theirs.chomsky_normal_form(factor=direction, horzMarkov=horizontal)
    assert Tree.from_nltk(theirs) == tree.binarize(direction, horizontal=horizontal)


@given(raw_trees(), st.booleans(), st.booleans())
def test_unary_chains_are_collapsed_as_by_nltk(tree, root, tags):
    theirs = tree.to_nltk()
    theirs.collapse_unary(collapsePOS=tags, collapseRoot=root)
    assert Tree.from_nltk(theirs) == tree.collapse_unaries(root=root, tags=tags)


def test_chunks_with_tagged_words_are_read():
    chunks = nltk_tree.Tree("S", [nltk_tree.Tree("NP", [("the", "DT"), ("owl", "NN")]), ("slept", "VBD")])
    assert str(Tree.from_nltk(chunks)) == "(S (NP (DT the) (NN owl)) (VBD slept))"


@pytest.mark.parametrize(
    ("theirs", "message"),
    [
        (nltk_tree.Tree("NP", ["the", "owl"]), "has the word 'the' next to others under 'NP'"),
        (nltk_tree.Tree("S", [nltk_tree.Tree("NP", [])]), "has nothing under 'NP'"),
        (nltk_tree.Tree("S", [nltk_tree.Tree("NN", ["owl"]), 3]), "3 is not an nltk.Tree"),
        ("(S (NN owl))", "is not an nltk.Tree"),
    ],
)
def test_what_is_no_such_tree_is_refused(theirs, message):
    with pytest.raises(IncparseError, match=message):
        Tree.from_nltk(theirs)


def test_deep_trees_come_back():
    assert Tree.from_nltk(deep_tree(5_000).to_nltk()) == deep_tree(5_000)


def test_without_nltk_it_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "nltk.tree", None)
    with pytest.raises(ImportError, match="pip install nltk"):
        Tree.from_string("(NN owl)").to_nltk()
