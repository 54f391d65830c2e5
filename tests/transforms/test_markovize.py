import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_incparse.errors import ConfigError
from spacy_incparse.transforms.binarize import (
    BRANCHING,
    Markovization,
    label_parts,
    markovize,
    unmarkovize,
    with_furthest_ancestor,
)
from spacy_incparse.trees.builder import make_tree
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree
from tests.strategies import deep_tree, raw_trees

HEADS = HeadRules.from_name("en")
FOUR = Tree.from_string("(S (NP (DT an) (JJ old) (JJ gray) (NN owl)))")
SHORT = Tree.from_string("(TOP (S (VP (VB go))))")
ORDERS = st.integers(0, 2)
SETTINGS = st.builds(
    Markovization,
    branching=st.sampled_from(BRANCHING),
    horizontal=ORDERS,
    anchor=st.booleans(),
    vertical=ORDERS,
    annotate_tags=st.booleans(),
    head_tag_labels=st.sampled_from([(), ("VP", "NP")]),
    collapse_unaries=st.booleans(),
)


def markovized(tree, **options):
    return str(Tree(markovize(tree.arrays, Markovization(**options), HEADS)))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "(S (NP (DT an) (NP|<> (JJ old) (NP|<> (JJ gray) (NN owl)))))"),
        ({"horizontal": 1}, "(S (NP (DT an) (NP|<DT> (JJ old) (NP|<JJ> (JJ gray) (NN owl)))))"),
        ({"horizontal": 2}, "(S (NP (DT an) (NP|<DT> (JJ old) (NP|<DT-JJ> (JJ gray) (NN owl)))))"),
        (
            {"anchor": True, "horizontal": 1},
            "(S (NP (DT an) (NP|<DT..DT> (JJ old) (NP|<DT..JJ> (JJ gray) (NN owl)))))",
        ),
        ({"branching": "left", "horizontal": 1}, "(S (NP (NP|<NN> (NP|<JJ> (DT an) (JJ old)) (JJ gray)) (NN owl)))"),
        ({"branching": "head", "horizontal": 1}, "(S (NP (DT an) (NP|l<JJ> (JJ old) (NP|l<JJ> (JJ gray) (NN owl)))))"),
        (
            {"vertical": 1, "annotate_tags": True},
            "(S (NP^S (DT^NP an) (NP^S|<> (JJ^NP old) (NP^S|<> (JJ^NP gray) (NN^NP owl)))))",
        ),
        (
            {"head_tag_labels": ("NP",)},
            "(S (NP[NN] (DT an) (NP[NN]|<> (JJ old) (NP[NN]|<> (JJ gray) (NN owl)))))",
        ),
    ],
)
def test_what_labels_tell(options, expected):
    assert markovized(FOUR, **options) == expected


def test_children_on_both_sides_of_the_head():
    tree = Tree.from_string("(VP (RB not) (VB go) (RB out) (RB now))")
    expected = "(VP (RB not) (VP|r<RB> (VP|r<RB> (VB go) (RB out)) (RB now)))"
    assert markovized(tree, branching="head", horizontal=1) == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"collapse_unaries": True}, "(TOP (S+VP+VB go))"),
        ({"collapse_unaries": True, "vertical": 1}, "(TOP (S+VP+VB^TOP go))"),
        ({"vertical": 2}, "(TOP (S^TOP (VP^S^TOP (VB go))))"),
    ],
)
def test_unary_chains(options, expected):
    assert markovized(SHORT, **options) == expected


@given(raw_trees(), SETTINGS)
def test_markovized_trees_are_binary_and_can_be_restored(tree, options):
    binary = Tree(markovize(tree.arrays, options, HEADS))
    assert all(len(node) <= 2 for node in binary.preorder())
    assert Tree(unmarkovize(binary.arrays)) == tree


@pytest.mark.parametrize("label", ["A+B", "A^B", "A|<B>", "50%", "%2B", "[A]", "=A", "", "Ω|"])
def test_labels_with_reserved_characters(label):
    tree = make_tree("TOP", [make_tree(label, [make_tree(label, "a"), make_tree("B", "b"), make_tree(label, "c")])])
    options = Markovization(vertical=1, horizontal=2, annotate_tags=True, collapse_unaries=True)
    binary = markovize(tree.arrays, options)
    assert Tree(unmarkovize(binary)) == tree
    assert label_parts(binary.labels[1]).categories == (label,)
    assert label_parts(binary.labels[2]).ancestors == (label,)


def test_the_parts_of_a_label():
    parts = label_parts("S+VP^NP^SBAR[VBZ]|<DT..JJ>")
    assert (parts.categories, parts.ancestors, parts.is_active) == (("S", "VP"), ("NP", "SBAR"), True)
    assert with_furthest_ancestor("S+VP^NP^SBAR[VBZ]|<DT>", "A|B") == "S+VP^NP^A%7CB[VBZ]|<DT>"


def test_deep_and_wide_trees():
    options = Markovization(branching="head", vertical=2, horizontal=2, head_tag_labels=("VP",))
    deep = deep_tree(2_000)
    assert Tree(unmarkovize(markovize(deep.arrays, options, HEADS))) == deep
    wide = make_tree("FRAG", [make_tree("NN", "owl")] * 3_000)
    assert Tree(unmarkovize(markovize(wide.arrays, options, HEADS))) == wide


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"branching": "up"}, "'up': it must be one of right, left, head"),
        ({"horizontal": 3}, "horizontal is 3: choose a whole number from 0 to 2"),
        ({"vertical": -1}, "vertical is -1"),
    ],
)
def test_wrong_settings_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        Markovization(**options)
    with pytest.raises(ValueError, match="need head rules"):
        markovize(FOUR.arrays, Markovization(branching="head"))


# Binarization: the labels of added nodes name their children

TREE = Tree.from_string("(NP (DT a) (JJ very) (JJ old) (NN owl))")
directions = st.sampled_from(["left", "right"])
widths = st.sampled_from([None, 0, 1, 2])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "(NP (DT a) (NP|<JJ-JJ-NN> (JJ very) (NP|<JJ-NN> (JJ old) (NN owl))))"),
        ({"horizontal": 1}, "(NP (DT a) (NP|<JJ> (JJ very) (NP|<JJ> (JJ old) (NN owl))))"),
        ({"horizontal": 0, "marker": "@"}, "(NP (DT a) (NP@<> (JJ very) (NP@<> (JJ old) (NN owl))))"),
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


def test_wrong_options_and_labels_are_refused():
    for options, message in (
        ({"direction": "up"}, "'up': it must be one of .*right"),
        ({"marker": ""}, "the marker is empty"),
    ):
        with pytest.raises(ValueError, match=message):
            TREE.binarize(**options)
    twice = TREE.binarize()
    with pytest.raises(ValueError, match=r"'NP\|<JJ-JJ-NN>' .* choose another marker"):
        twice.binarize()
    assert twice.binarize(marker="#").unbinarize(marker="#") == twice
    alone = Tree.from_string("(S (ADVP|PRT (RB up) (RB and) (RB down)) (X (Y|<Z> now)))")
    assert alone.binarize().unbinarize() == alone


def test_deep_and_wide_trees_are_binarized():
    deep = deep_tree(5_000)
    assert deep.binarize("left").unbinarize() == deep
    wide = make_tree("FRAG", [make_tree("NN", "owl")] * 5_000)
    assert wide.binarize(horizontal=2).height == 4_999
    assert wide.binarize(horizontal=2).unbinarize() == wide
