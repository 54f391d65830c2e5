"""Compiled moves of the left-corner form against plain Python and the readable way: transform, then derivation."""

import pytest
from hypothesis import given, settings

from spacy_incparse.incremental.grammar import derivation
from spacy_incparse.incremental.moves import LeftCornerMoves
from spacy_incparse.transforms.left_corner import transform
from spacy_incparse.treebanks.reader import read_treebank
from spacy_incparse.trees.tree import Tree
from tests.reference.left_corner_moves import Symbols, left_corner_moves
from tests.strategies import normalised_trees


def readable_moves(tree, numbers):
    moves = derivation(transform(tree))
    return [move.n_closings for move in moves], [[numbers[label] for label in move.chain] for move in moves]


def check(tree):
    labels = sorted({*tree.arrays.labels, *transform(tree).arrays.labels})
    expected = readable_moves(tree, {label: 2 + k for k, label in enumerate(labels)})
    assert left_corner_moves(tree.arrays, Symbols.of(labels, 2)) == expected
    assert LeftCornerMoves(labels, 2).of(tree.arrays) == (tree.tags, *expected)


@settings(deadline=None)
@given(normalised_trees(phrases=("NP", "VP")))
def test_the_moves_are_those_of_the_transformed_tree(tree):
    check(tree)


def test_trees_of_a_treebank():
    for tree in read_treebank("assets/sample-dev.mrg"):
        check(tree)


@pytest.mark.parametrize("labels", [["TOP", "NP", "PP"], ["TOP", "NP", "NP/NP"]])
def test_labels_without_a_number(labels):
    tree = Tree.from_string("(TOP (NP (NP (NN a)) (PP (IN of) (NP (NN b)))))")
    with pytest.raises(KeyError):
        LeftCornerMoves(labels, 2).of(tree.arrays)
