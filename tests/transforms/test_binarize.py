import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_incparse.treebanks.reader import read_trees
from spacy_incparse.trees.builder import make_tree
from spacy_incparse.trees.tree import Tree
from tests.strategies import deep_tree, raw_trees

TREE = Tree.from_string("(NP (DT a) (JJ very) (JJ old) (NN owl))")
directions = st.sampled_from(["left", "right"])
widths = st.sampled_from([None, 0, 1, 2])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "(NP (DT a) (NP|<JJ-JJ-NN> (JJ very) (NP|<JJ-NN> (JJ old) (NN owl))))"),
        ({"horizontal": 1}, "(NP (DT a) (NP|<JJ> (JJ very) (NP|<JJ> (JJ old) (NN owl))))"),
        ({"horizontal": 0, "marker": "@"}, "(NP (DT a) (NP@<> (JJ very) (NP@<> (JJ old) (NN owl))))"),
        ({"direction": "left"}, "(NP (NP|<DT-JJ-JJ> (NP|<DT-JJ> (DT a) (JJ very)) (JJ old)) (NN owl))"),
        ({"direction": "left", "horizontal": 1}, "(NP (NP|<JJ> (NP|<JJ> (DT a) (JJ very)) (JJ old)) (NN owl))"),
    ],
)
def test_what_is_put_in(options, expected):
    assert str(TREE.binarize(**options)) == expected


@given(raw_trees(), directions, widths)
def test_unbinarize_restores_the_tree(tree, direction, horizontal):
    binary = tree.binarize(direction, horizontal=horizontal)
    assert all(len(node) <= 2 for node in binary.preorder())
    assert binary.words == tree.words
    assert binary.unbinarize() == tree


@given(raw_trees(), directions)
def test_a_node_is_binarized_as_a_tree_of_its_own(tree, direction):
    node = tree[-1]
    alone = make_tree(node.label, node.words[0] if node.is_leaf else node.children)
    assert node.binarize(direction) == alone.binarize(direction)


def test_labels_with_the_marker_alone_are_left():
    tree = Tree.from_string("(S (ADVP|PRT (RB up) (RB and) (RB down)) (X (Y|<Z> now)))")
    assert tree.binarize().unbinarize() == tree


@pytest.mark.parametrize(
    ("options", "message"),
    [({"direction": "up"}, "'up'; expected one of right, left"), ({"marker": ""}, "the marker is empty")],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        TREE.binarize(**options)


def test_a_label_that_looks_put_in_is_refused():
    twice = TREE.binarize()
    with pytest.raises(ValueError, match="choose another marker"):
        twice.binarize()
    assert twice.binarize(marker="#").unbinarize(marker="#") == twice


def test_deep_and_wide_trees():
    deep = deep_tree(5_000)
    assert deep.binarize("left").unbinarize() == deep
    wide = make_tree("FRAG", [make_tree("NN", "owl")] * 5_000)
    assert wide.binarize(horizontal=2).height == 4_999
    assert wide.binarize(horizontal=2).unbinarize() == wide


@pytest.mark.treebanks
@pytest.mark.parametrize("direction", ["left", "right"])
def test_real_trees_are_restored(treebanks, direction):
    for number, tree in enumerate(read_trees(treebanks / "gum" / "dev.mrg")):
        if number % 5 == 0:
            assert tree.binarize(direction, horizontal=1).unbinarize() == tree
