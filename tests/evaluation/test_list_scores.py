import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_incparse.evaluation.brackets import COLLINS, EvalbParams
from spacy_incparse.evaluation.evalb import score_trees
from spacy_incparse.evaluation.nbest import BracketCounts, Oracle, calibration, list_counts
from spacy_incparse.parsing.parse import flat_tree
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


@settings(max_examples=60)
@given(tree_pairs(), st.sampled_from(PARAMS))
def test_same_counts_as_scoring_each_pair(pair, params):
    gold, parsed = pair
    assert list_counts(gold, [parsed, gold, parsed], params) == [
        expected(gold, tree, params) for tree in (parsed, gold, parsed)
    ]


@settings(max_examples=60)
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


def test_f():
    assert BracketCounts(3, 4, 6).f == pytest.approx(0.6)
    assert (BracketCounts(0, 0, 0).f, BracketCounts(0, 3, 0).f) == (1, 0)


GOLD = Tree.from_string("(TOP (S (NP (DT The) (NN rain)) (VP (VBD stopped))))")
FLAT = Tree.from_string("(TOP (S (DT The) (NN rain) (VBD stopped)))")
NO_VP = Tree.from_string("(TOP (S (NP (DT The) (NN rain)) (VBD stopped)))")
NO_NP = Tree.from_string("(TOP (S (DT The) (NN rain) (VP (VBD stopped))))")


def scores_of(lists, sizes):
    oracle = Oracle(sizes)
    for gold, trees in lists:
        oracle.add(gold, trees)
    return oracle.report().scores


def test_the_oracle_by_hand():
    lists = [(GOLD, [FLAT, NO_VP, NO_NP, GOLD]), (GOLD, [NO_NP, NO_VP])]
    one, two, four = scores_of(lists, [4, 1, 2])
    assert (one.n, two.n, four.n) == (1, 2, 4)
    # brackets: 3 in the gold tree, 1 in FLAT, 2 in the others
    assert one.f == pytest.approx(2 * (1 + 2) / (3 + 1 + 3 + 2))
    assert two.f == pytest.approx(2 * (2 + 2) / (3 + 2 + 3 + 2))
    assert four.f == pytest.approx(2 * (3 + 2) / (3 + 3 + 3 + 2))
    # ties go to the higher rank: NO_VP before NO_NP
    assert [score.mean_rank for score in (one, two, four)] == [1, 1.5, 2.5]
    assert [score.has_gold for score in (one, two, four)] == [0, 0, 0.5]
    assert [score.mean_length for score in (one, two, four)] == [1, 2, 3]


def test_calibration_of_the_first_tree():
    oracle = Oracle([1, 2])
    oracle.add(GOLD, [GOLD, FLAT], 0.95)
    oracle.add(GOLD, [FLAT, GOLD], 0.55)
    oracle.add(GOLD, [GOLD])  # without a probability
    found = oracle.report().calibration
    assert (found.n, found.right, found.mean) == (2, 0.5, pytest.approx(0.75))
    assert found.bins == ((0.55, 0.0, 1), (0.95, 1.0, 1))
    assert scores_of([(GOLD, [GOLD])], [1])[0].has_gold == 1
    assert Oracle([1]).report().calibration is None


def test_report_of_the_oracle():
    oracle = Oracle([1, 50])
    oracle.add(GOLD, [FLAT, GOLD], 0.8)
    report = oracle.report()
    assert report.format().splitlines()[2].split() == ["50", "100.00", "2.00", "100.0%", "2.0"]
    assert "calibration error 80.00" in report.format()
    figures = report.to_dict()
    assert (figures["lists"], figures["oracle"][0]["n"]) == (1, 1)
    assert figures["oracle"][1] == {"n": 50, "f": 1.0, "mean_rank": 2.0, "has_gold": 1.0, "mean_length": 2.0}
    assert figures["calibration"]["error"] == pytest.approx(0.8)
    assert "calibration" not in Oracle([1]).report().to_dict()


@settings(max_examples=40)
@given(st.lists(tree_pairs(), min_size=1, max_size=4))
def test_the_oracle_of_one_tree_is_its_score_and_more_trees_are_never_worse(pairs):
    gold, parsed = zip(*pairs, strict=True)
    lists = [(g, [p, flat_tree(g.words, g.tags), g]) for g, p in pairs]
    scores = scores_of(lists, [1, 2, 3])
    assert scores[0].f == pytest.approx(score_trees(gold, parsed).all.f)
    assert sorted(score.mean_rank for score in scores) == [score.mean_rank for score in scores]


def test_calibration_by_hand():
    found = calibration([0.72, 0.78, 0.95, 1.0, 0.1], [True, False, True, True, False])
    # bins: 0.7-0.8 (mean 0.75, half right), 0.9-1 (0.975, all right), 0.1-0.2 (0.1, none right)
    assert found.error == pytest.approx((2 * 0.25 + 2 * 0.025 + 0.1) / 5)
    assert (found.n, found.right, found.mean) == (5, pytest.approx(0.6), pytest.approx(0.71))
    assert [size for _, _, size in found.bins] == [1, 2, 2]
    assert calibration([], []) is None


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=50))
def test_bounds_of_calibration(pairs):
    found = calibration([p for p, _ in pairs], [right for _, right in pairs])
    assert 0 <= found.error <= 1
    assert abs(found.mean - found.right) <= found.error + 1e-9
    assert sum(size for _, _, size in found.bins) == found.n == len(pairs)
    assert found.to_dict()["error"] == found.error
    outcomes = [right for _, right in pairs]
    assert calibration([float(outcome) for outcome in outcomes], outcomes).error == 0
