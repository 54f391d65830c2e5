import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_incparse.incremental.grammar import Move, derivation
from spacy_incparse.transforms.left_corner import transform
from spacy_incparse.treebanks.reader import parse_bracketed
from tests.reference.left_corner_moves import build_tree
from tests.strategies import deep_tree, normalised_trees


def test_moves_of_a_sentence():
    tree = next(parse_bracketed("(TOP (S (NP (NN Rain)) (VP (MD may) (VP (VB fall) (RB soon))) (. .)))"))
    assert derivation(tree) == [
        Move(0, ("S", "NP")),
        Move(1, ("VP",)),  # closes NP, opens VP under S
        Move(0, ("VP",)),
        Move(0, ()),
        Move(2, ()),  # closes both VPs
    ]


@given(normalised_trees())
def test_moves_build_the_tree_again(plain):
    tree = transform(plain)
    moves = derivation(tree)
    assert len(moves) == len(tree.words)
    assert build_tree(moves, tree.words, tree.tags) == tree


@given(st.lists(st.tuples(st.integers(0, 3), st.lists(st.sampled_from(["NP", "VP"]), max_size=3)), min_size=1))
def test_a_tree_gives_the_moves_that_built_it(raw_moves):
    moves, n_open = [], 0
    for n_closings, chain in raw_moves:
        moves.append(Move(min(n_closings, n_open), tuple(chain)))
        n_open += len(chain) - moves[-1].n_closings
    words = [f"w{k}" for k in range(len(moves))]
    assert derivation(build_tree(moves, words, ["X"] * len(words))) == moves


def test_a_part_of_a_tree_has_moves_of_its_own():
    tree = next(parse_bracketed("(TOP (S (NP (NN Rain)) (VP (VBZ falls) (PP (IN on) (NN us)))))"))
    phrase = tree[0][1]
    assert build_tree(derivation(phrase), phrase.words, phrase.tags, root_label="VP") == phrase


def test_depth_5000():
    tree = deep_tree(5000)
    assert build_tree(derivation(tree), tree.words, tree.tags) == tree


def test_errors():
    with pytest.raises(ValueError, match="not from the word 'Rain' alone"):
        derivation(next(parse_bracketed("(TOP (NN Rain))"))[0])
