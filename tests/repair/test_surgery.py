"""Edits at one place of a tree keep its words and all other nodes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_incparse import Tree
from spacy_incparse.repair.rules import EditError, excise, insert, raise_node, relabel
from tests.strategies import raw_trees

TREE = Tree.from_string("(TOP (S (NP-SBJ-1 (DT the) (NN cat)) (VP (VBD slept) (ADVP (RB well)))))")
S, NP, DT, NN, VP, ADVP, RB = 1, 2, 3, 4, 5, 7, 8


@pytest.mark.parametrize(
    ("edit", "after", "node"),
    [
        (relabel(TREE.arrays, NP, "WHNP"), "(WHNP-SBJ-1 (DT the) (NN cat))", NP),
        (relabel(TREE.arrays, NN, "NNP"), "(NNP cat)", NN),
        (insert(TREE.arrays, NN, NN, "NX"), "(NP-SBJ-1 (DT the) (NX (NN cat)))", NP),
        (insert(TREE.arrays, DT, NN, "NX"), "(NP-SBJ-1 (NX (DT the) (NN cat)))", NP),
        (excise(TREE.arrays, ADVP), "(VP (VBD slept) (RB well))", VP),
        (excise(TREE.arrays, NP), "(S (DT the) (NN cat) (VP (VBD slept) (ADVP (RB well))))", S),
        (raise_node(TREE.arrays, ADVP), "(S (NP-SBJ-1 (DT the) (NN cat)) (VP (VBD slept)) (ADVP (RB well)))", S),
        (raise_node(TREE.arrays, DT), "(S (DT the) (NP-SBJ-1 (NN cat)) (VP (VBD slept) (ADVP (RB well))))", S),
    ],
)
def test_edits(edit, after, node):
    assert edit.node == node
    changed = Tree(edit.arrays)
    assert str(changed._at(node)) == after
    assert Tree.from_string(str(changed)) == changed


@pytest.mark.parametrize(
    ("edit", "arguments"),
    [
        (insert, (0, 0, "X")), (insert, (DT, VP, "X")), (insert, (NN, DT, "X")),
        (excise, (0,)), (excise, (NN,)),
        (raise_node, (0,)), (raise_node, (S,)), (raise_node, (RB,)),
    ],
)  # fmt: skip
def test_impossible_edits(edit, arguments):
    with pytest.raises(EditError):
        edit(TREE.arrays, *arguments)


def test_children_in_the_middle_are_not_raised():
    tree = Tree.from_string("(TOP (NP (DT a) (JJ b) (NN c)))")
    with pytest.raises(EditError, match="first or last"):
        raise_node(tree.arrays, 3)


@settings(max_examples=40)
@given(raw_trees(), st.data())
def test_any_edit_gives_a_tree_with_the_same_words(tree, data):
    arrays = tree.own_arrays
    node = data.draw(st.integers(0, len(arrays.sizes) - 1))
    for edit in (
        lambda: insert(arrays, node, node, "X"),
        lambda: excise(arrays, node),
        lambda: raise_node(arrays, node),
    ):
        try:
            changed = Tree(edit().arrays)
        except EditError:
            continue
        assert changed.words == tree.words
        assert Tree.from_string(str(changed)) == changed
    if node > 0:
        assert excise(insert(arrays, node, node, "X").arrays, node).arrays == arrays
