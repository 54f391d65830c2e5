import pytest
from hypothesis import given

from spacy_incparse.errors import IncparseError
from spacy_incparse.trees.heads import HeadRules, head_children, head_words
from spacy_incparse.trees.tree import Tree
from tests.strategies import deep_tree, normalised_trees

ENGLISH = HeadRules.from_name("en")


def test_head_words():
    tree = Tree.from_string("(TOP (S (NP (DT The) (NN owl)) (VP (VBD slept)) (. .)))")
    assert list(head_children(tree.arrays, ENGLISH)) == [1, 1]  # VP of S, NN of NP; TOP and VP have one child
    assert head_words(tree.arrays, [1, 1]) == (2, 2, 1, 0, 1, 2, 2, 3)


@given(normalised_trees())
def test_every_node_has_the_head_of_its_head_child(tree):
    words = head_words(tree.arrays, head_children(tree.arrays, ENGLISH))
    for node in tree.preorder():
        if node.is_leaf:
            assert words[node.index] == node.start
        else:
            child = node[ENGLISH.head_index(node.label, [child.label for child in node])]
            assert words[node.index] == words[child.index]


@pytest.mark.parametrize("heads", [[], [1], [3, 1], [-1, 1]])
def test_heads_of_another_tree(heads):
    tree = Tree.from_string("(TOP (S (NP (DT The) (NN owl)) (VP (VBD slept)) (. .)))")
    with pytest.raises(IncparseError, match="another tree"):
        head_words(tree.arrays, heads)


def test_deep_trees():
    tree = deep_tree(5000)
    assert len(head_words(tree.arrays, head_children(tree.arrays, ENGLISH))) == len(tree.arrays.sizes)
