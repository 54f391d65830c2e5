"""Writing trees from moves against the plain way: build the transformed tree, then restore it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_incparse.grammar.chains import Grammar
from spacy_incparse.grammar.derivation import Move, build_tree
from spacy_incparse.search.moves import Moves
from spacy_incparse.search.output import TreeWriter
from spacy_incparse.search.parser import root_symbol
from spacy_incparse.transforms.left_corner import restore, transform
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.reader import read_treebank

SAMPLE = Path(__file__).parents[2] / "assets" / "sample-dev.mrg"


@pytest.fixture(scope="module")
def grammar():
    return Grammar.from_trees([transform(tree) for tree in read_treebank(SAMPLE)])


@pytest.fixture(scope="module")
def moves(grammar):
    return Moves(grammar, HeadRules.from_name("en"), (), frozenset(), 0, 0.0)


@given(data=st.data())
def test_any_moves_give_the_tree_of_the_slow_twin(grammar, moves, data):
    n_closings, leaves, n_open = [], [], 0
    for _ in range(data.draw(st.integers(1, 12))):
        leaf = data.draw(st.integers(0, len(moves.leaves) - 1))
        n_closings.append(data.draw(st.integers(0, n_open)))
        leaves.append(leaf)
        n_open += len(moves.leaves[leaf][1]) - n_closings[-1]
    words = [f"w{k}" for k in range(len(leaves))]
    tags = [grammar.tags[moves.leaves[leaf][0]] for leaf in leaves]
    chains = [tuple(grammar.nonterminals[k] for k in moves.leaves[leaf][1]) for leaf in leaves]
    expected = restore(build_tree([Move(n, c) for n, c in zip(n_closings, chains, strict=True)], words, tags))
    writer = TreeWriter(moves, grammar.nonterminals, root_symbol(grammar))
    assert writer.write(n_closings, leaves, words, tags) == expected.arrays


def test_a_word_keeps_the_tag_that_was_given(grammar, moves):
    writer = TreeWriter(moves, grammar.nonterminals, root_symbol(grammar))
    assert writer.write([0], [0], ["hm"], ["NO-SUCH-TAG"]).labels[-1] == "NO-SUCH-TAG"


def test_a_chain_of_words_without_end_is_no_recursion(grammar, moves):
    deep = max(range(len(moves.leaves)), key=lambda leaf: len(moves.leaves[leaf][1]))
    n = 3_000
    tags = [grammar.tags[moves.leaves[deep][0]]] * n
    arrays = TreeWriter(moves, grammar.nonterminals, root_symbol(grammar)).write([0] * n, [deep] * n, ["x"] * n, tags)
    assert arrays.sizes[0] == len(arrays.labels)
    assert arrays.ends[0] == n
