import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_incparse.errors import IncparseError
from spacy_incparse.evaluation.brackets import COLLINS, EvalbParams
from spacy_incparse.evaluation.evalb import score_trees
from spacy_incparse.evaluation.nbest import BracketCounts, list_counts
from spacy_incparse.trees.builder import make_tree
from spacy_incparse.trees.tree import Tree
from tests.evaluation.pairs import tree_pairs

PARAMS = (
    COLLINS,
    EvalbParams(),
    EvalbParams(labeled=False, delete_labels=("TOP",)),
    EvalbParams(eq_labels=(("NP", "VP"), ("VP", "S"))),  # not transitive
    EvalbParams(eq_labels=(("NP", "VP"), ("VP", "S"), ("S", "NP")), eq_words=(("a", "b"),)),
)


def expected(gold, tree, params):
    (score,) = score_trees([gold], [tree], params=params).per_sentence
    return BracketCounts(score.n_matched, score.n_parsed, score.n_gold)


@given(tree_pairs(), st.sampled_from(PARAMS))
def test_same_counts_as_scoring_each_pair(pair, params):
    gold, parsed = pair
    assert list_counts(gold, [parsed, gold, parsed], params) == [
        expected(gold, tree, params) for tree in (parsed, gold, parsed)
    ]


@given(tree_pairs(gold_tags=("NN", "-NONE-", ".")))
def test_same_counts_with_words_tagged_as_traces(pair):
    for gold, parsed in (pair, pair[::-1]):
        assert list_counts(gold, [parsed]) == [expected(gold, parsed, COLLINS)]


def test_the_root_of_other_treebanks_is_no_bracket():
    gold = Tree.from_string("(TOP (S (NP (DT The) (NN rain)) (VP (VBD stopped)) (. .)))")
    for root in ("", "ROOT", "VROOT", "S1", "TOP"):
        assert list_counts(gold, [make_tree(root, list(gold))]) == [(3, 3, 3)]


def test_a_part_of_a_tree_counts_from_its_own_first_word():
    whole = Tree.from_string("(TOP (S (NP (DT The) (NN rain)) (VP (VBD made) (S (NP (PRP us)) (VP (VB stay))))))")
    part = whole[0][1][1]
    assert list_counts(part, [part, Tree.from_string("(S (NP (PRP us) (VB stay)))")]) == [(3, 3, 3), (1, 2, 3)]


def test_a_tree_over_other_words_is_an_error():
    gold = Tree.from_string("(TOP (NP (NN rain)))")
    with pytest.raises(IncparseError, match="'rain' of the gold tree is 'snow'"):
        list_counts(gold, [gold, Tree.from_string("(TOP (NP (NN snow)))")])


def test_f():
    assert BracketCounts(3, 4, 6).f == pytest.approx(0.6)
    assert BracketCounts(0, 0, 0).f == 1
    assert BracketCounts(0, 3, 0).f == 0


@pytest.mark.slow
def test_lists_are_counted_fast():
    words = " ".join(f"(NP (DT the) (NN w{i}))" for i in range(15))
    gold = Tree.from_string(f"(TOP (S {words}))")
    trees = [Tree.from_string(str(gold)) for _ in range(50)]
    started = time.process_time()
    for _ in range(10):
        list_counts(gold, trees)
    assert 500 / (time.process_time() - started) > 3000
