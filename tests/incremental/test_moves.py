import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_incparse.incremental.grammar import Move, derivation, root_symbol
from spacy_incparse.incremental.moves import LeftCornerMoves
from spacy_incparse.incremental.tree_writer import TreeWriter
from spacy_incparse.transforms.left_corner import restore, transform
from spacy_incparse.trees.tree import Tree
from tests.reference.engine import learner_of
from tests.reference.left_corner_moves import build_tree
from tests.strategies import normalised_trees

# Two phrase labels, so that slash labels are frequent, and the moves of any word may follow any other's.
TREEBANKS = st.lists(normalised_trees(max_words=8, phrases=("NP", "S"), tags=("NN", "CC")), min_size=1, max_size=5)


@settings(max_examples=60)
@given(data=st.data(), treebank=TREEBANKS, n_words=st.integers(1, 12))
def test_the_same_tree_as_building_and_restoring_it(data, treebank, n_words):
    """Any moves, with slash labels where no transformed tree has them, give the tree that the readable code gives."""
    learner = learner_of(treebank, features="paper", table_bits=8)
    model, moves = learner.model, learner.model.moves(0)
    names = model.grammar.nonterminals
    n_open, n_closings, leaves, named, tags = 0, [], [], [], []
    for _ in range(n_words):
        n_closings.append(data.draw(st.integers(0, n_open)))
        leaves.append(data.draw(st.integers(0, len(moves.leaves) - 1)))
        tag, chain = moves.leaves[leaves[-1]]
        n_open += len(chain) - n_closings[-1]
        named.append(Move(n_closings[-1], tuple(names[label] for label in chain)))
        tags.append(model.grammar.tags[tag])
    words = [f"w{k}" for k in range(n_words)]
    expected = restore(build_tree(named, words, tags))
    writer = TreeWriter(moves, names, root_symbol(model.grammar))
    tree = Tree(writer.write(writer.restored(n_closings, leaves), words, tags))
    assert str(tree) == str(expected)
    assert tree.arrays == expected.arrays


@given(normalised_trees(phrases=("NP", "VP")))
def test_the_moves_are_those_of_the_transformed_tree(tree):
    """The compiled way, without that tree, and the readable one."""
    labels = sorted({*tree.arrays.labels, *transform(tree).arrays.labels})
    numbers = {label: 2 + k for k, label in enumerate(labels)}
    moves = derivation(transform(tree))
    expected = [move.n_closings for move in moves], [[numbers[label] for label in move.chain] for move in moves]
    assert LeftCornerMoves(labels, 2).of(tree.arrays) == (tree.tags, *expected)


@pytest.mark.parametrize("labels", [["TOP", "NP", "PP"], ["TOP", "NP", "NP/NP"]])
def test_labels_without_a_number(labels):
    tree = Tree.from_string("(TOP (NP (NP (NN a)) (PP (IN of) (NP (NN b)))))")
    with pytest.raises(KeyError):
        LeftCornerMoves(labels, 2).of(tree.arrays)
