import pickle

import pytest
from hypothesis import given

import spacy_incparse
from spacy_incparse.errors import IncparseError
from spacy_incparse.treebanks.reader import parse_bracketed
from spacy_incparse.trees.builder import TreeBuilder, make_tree
from spacy_incparse.trees.tree import Tree
from tests.strategies import deep_tree, normalised_trees, raw_trees

TEXT = "(TOP (S (NP (DT The) (NN rain)) (VP (VBZ stops) (ADVP (RB soon))) (. .)))"
TREE = next(parse_bracketed(TEXT))


def test_a_node_knows_its_label_span_and_words():
    noun_phrase = TREE[0][0]
    assert (noun_phrase.label, noun_phrase.start, noun_phrase.end) == ("NP", 0, 2)
    assert noun_phrase.words == ("The", "rain")
    assert noun_phrase.tags == ("DT", "NN")
    assert [child.label for child in TREE[0].children] == ["NP", "VP", "."]
    assert len(TREE[0]) == 3
    assert not noun_phrase.is_preterminal


def test_a_pos_node_has_one_word_no_children_and_is_true():
    node = TREE[0][0][1]
    assert node.is_preterminal
    assert node.children == ()
    assert node.words == ("rain",)
    assert node


def test_nodes_know_parent_root_and_index():
    adverb = TREE[0][1][1][0]
    assert adverb.parent is not None
    assert adverb.parent.label == "ADVP"
    assert adverb.root == TREE
    assert TREE.parent is None
    assert [node.index for node in TREE.preorder()] == list(range(TREE.size))


def test_spans_are_those_of_phrases_in_preorder():
    assert TREE.spans() == [("TOP", 0, 5), ("S", 0, 5), ("NP", 0, 2), ("VP", 2, 4), ("ADVP", 3, 4)]
    assert TREE[0][1].spans() == [("VP", 2, 4), ("ADVP", 3, 4)]


def test_trees_are_immutable():
    for name in ("label", "start", "index", "children"):
        with pytest.raises(AttributeError):
            setattr(TREE, name, 1)


def test_equality_is_structural_wherever_the_node_stands():
    copy = make_tree("NP", [make_tree("DT", "The"), make_tree("NN", "rain")])
    assert TREE[0][0] == copy
    assert hash(TREE[0][0]) == hash(copy)
    assert TREE[0][0] != make_tree("NP", [make_tree("DT", "The"), make_tree("NN", "sun")])
    assert TREE[0][0] != make_tree("NX", [make_tree("DT", "The"), make_tree("NN", "rain")])
    assert copy != "(NP (DT The) (NN rain))"


def test_equal_labels_and_words_in_another_shape_are_not_equal():
    assert next(parse_bracketed("(A (B (C x) (D y)))")) != next(parse_bracketed("(A (B (C x)) (D y))"))


def test_pretty_brackets_stay_within_the_width():
    lines = TREE.pretty(width=40).split("\n")
    assert lines == [
        "(TOP",
        "  (S",
        "    (NP (DT The) (NN rain))",
        "    (VP (VBZ stops) (ADVP (RB soon)))",
        "    (. .)))",
    ]
    assert TREE.pretty() == TEXT


@given(raw_trees())
def test_printed_trees_are_read_back(tree):
    assert list(parse_bracketed(str(tree))) == [tree]
    assert list(parse_bracketed(tree.pretty(width=20))) == [tree]
    assert "\n" not in str(tree)


@given(raw_trees())
def test_every_node_of_a_tree_agrees_with_its_children(tree):
    for node in tree.preorder():
        if not node.is_preterminal:
            assert (node.start, node.end) == (node[0].start, node[-1].end)
            assert node.words == tuple(word for child in node for word in child.words)
            assert node.tags == tuple(tag for child in node for tag in child.tags)
            assert all(child.parent == node and child.parent.index == node.index for child in node)


@given(normalised_trees())
def test_trees_and_their_nodes_survive_pickling(tree):
    node = tree[-1]
    restored = pickle.loads(pickle.dumps(node))
    assert restored == node
    assert restored.index == node.index
    assert restored.root == tree


@given(normalised_trees())
def test_copies_of_children_make_the_same_tree(tree):
    assert make_tree("TOP", tree.children) == tree


def test_deep_trees_need_no_recursion():
    tree = deep_tree(5_000)
    assert next(parse_bracketed(str(tree))) == tree
    node: Tree | None = list(tree.preorder())[-1]
    depth = 0
    while node := node.parent:
        depth += 1
    assert depth == 5_001
    assert hash(tree) == hash(pickle.loads(pickle.dumps(tree)))


def test_the_builder_refuses_what_is_no_tree():
    builder = TreeBuilder()
    with pytest.raises(IncparseError, match="empty tree"):
        builder.finish()
    builder.open("NP")
    with pytest.raises(IncparseError, match="1 phrases are still open"):
        builder.finish()
    with pytest.raises(IncparseError, match="'NP' has no children"):
        builder.close()
    builder = TreeBuilder()
    with pytest.raises(IncparseError, match="without an open phrase"):
        builder.close()
    builder.leaf("NN", "rain")
    with pytest.raises(IncparseError, match="one root"):
        builder.leaf("NN", "sun")


def test_the_class_is_on_the_package():
    assert spacy_incparse.Tree is Tree
    with pytest.raises(AttributeError, match="no attribute 'Forest'"):
        _ = spacy_incparse.Forest
