import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_incparse.errors import IncparseError
from spacy_incparse.trees.builder import make_tree
from spacy_incparse.trees.tree import Tree
from tests.strategies import deep_tree, normalised_trees, raw_trees

RAW = Tree.from_string("(S (NP-SBJ-1 (NNP Ada)) (VP (VBD slept) (S (NP-SBJ (-NONE- *-1)))))")
CHAIN = Tree.from_string("(TOP (S (VP (VB Go) (ADVP (RB home)))))")


def test_functions_and_empty_elements_go():
    assert str(RAW.strip_functions()) == "(S (NP (NNP Ada)) (VP (VBD slept) (S (NP (-NONE- *-1)))))"
    assert str(RAW.remove_empties()) == "(S (NP-SBJ-1 (NNP Ada)) (VP (VBD slept)))"
    assert RAW[1][1].remove_empties() is None


def test_labels_are_mapped_by_a_table_or_a_function():
    assert str(RAW[0].map_labels({"NP-SBJ-1": "Subject", "NNP": "Name"})) == "(Subject (Name Ada))"
    assert str(CHAIN.map_labels(str.lower, tags=False)) == "(top (s (vp (VB Go) (advp (RB home)))))"


def test_unary_chains_become_one_node_and_back():
    assert str(CHAIN.collapse_unaries()) == "(TOP (S+VP (VB Go) (ADVP (RB home))))"
    assert str(CHAIN.collapse_unaries("_", root=True, tags=True)) == "(TOP_S_VP (VB Go) (ADVP_RB home))"
    assert CHAIN.collapse_unaries("_", root=True, tags=True).expand_unaries("_") == CHAIN


def test_a_joint_that_is_in_a_label_is_refused():
    with pytest.raises(IncparseError, match="'A\\+B' has '\\+' in it: choose another joint"):
        make_tree("S", [make_tree("A+B", "x")]).collapse_unaries()
    with pytest.raises(IncparseError, match="empty"):
        CHAIN.collapse_unaries("")


@given(raw_trees(), st.booleans(), st.booleans())
def test_expanding_undoes_collapsing(tree, root, tags):
    collapsed = tree.collapse_unaries(root=root, tags=tags)
    assert collapsed.expand_unaries() == tree
    chains = [node for node in list(collapsed.preorder())[not root :] if len(node) == 1 and (tags or len(node[0]))]
    assert not chains


@given(raw_trees())
def test_edits_of_a_node_are_those_of_a_tree_of_its_own(tree):
    node = tree[-1]
    alone = Tree.from_string(str(node)) if node.is_leaf else make_tree(node.label, node.children)
    assert node.strip_functions() == alone.strip_functions()
    assert node.remove_empties() == alone.remove_empties()
    assert node.collapse_unaries() == alone.collapse_unaries()
    assert node.map_labels(str.lower) == alone.map_labels(str.lower)
    assert node.strip_functions().index == 0


@given(normalised_trees())
def test_edits_leave_the_tree_alone(tree):
    before = str(tree)
    tree.collapse_unaries(), tree.map_labels({"NP": "X"}), tree.binarize()
    assert str(tree) == before


def test_deep_edits():
    tree = deep_tree(5_000)
    assert tree.collapse_unaries().expand_unaries() == tree
    assert tree.map_labels({}) == tree
