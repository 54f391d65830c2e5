import json

import pytest

from spacy_incparse.errors import IncparseError
from spacy_incparse.evaluation.evalb import compare, report_scores, score_trees
from tests.reference.evalb import tree_of

RIGHT = tree_of("(TOP (S (NP (DT the) (NN cat)) (VP (VBD slept))))")
WRONG = tree_of("(TOP (S (X (DT the) (NN cat)) (VP (VBD slept))))")
GOLD = [RIGHT] * 60


def bootstrap(gold, a, b, **settings):
    return compare(score_trees(gold, a), score_trees(gold, b), **settings)


def test_equal_runs_do_not_differ():
    result = bootstrap(GOLD, GOLD, GOLD, n=50)
    assert (result.difference, result.low, result.high, result.p_value) == (0.0, 0.0, 0.0, 1.0)
    assert bootstrap([], [], [], n=5).p_value == 1.0


def test_clear_difference():
    result = bootstrap(GOLD, [WRONG] * 30 + GOLD[30:], GOLD, n=400)
    assert result.difference == pytest.approx(1 / 6)
    assert 0 < result.low < result.difference < result.high
    assert result.p_value == pytest.approx(1 / 401)
    assert result.format().startswith("Difference in F +16.67 (95 %: +")


def test_swapping_the_runs_swaps_the_sign_and_seeds_repeat():
    a, b = [WRONG] * 5 + GOLD[5:], GOLD[10:] + [WRONG] * 10
    one, again, swapped, other = (
        bootstrap(GOLD, a, b, n=200, seed=3),
        bootstrap(GOLD, a, b, n=200, seed=3),
        bootstrap(GOLD, b, a, n=200, seed=3),
        bootstrap(GOLD, a, b, n=200, seed=4),
    )
    assert one == again
    assert (swapped.difference, swapped.p_value) == (-one.difference, one.p_value)
    assert (swapped.low, swapped.high) == pytest.approx((-one.high, -one.low))
    assert (one.low, one.high, one.p_value) != (other.low, other.high, other.p_value)


def test_sentences_that_one_run_leaves_out_are_out_of_both():
    broken = tree_of("(TOP (S (NP (DT the) (, cat)) (VP (VBD slept))))")
    a = score_trees(GOLD[:2], [broken, RIGHT], as_evalb=True)
    b = score_trees(GOLD[:2], [WRONG, RIGHT], as_evalb=True)
    assert compare(a, b, n=10).difference == 0.0


def test_wrong_input_is_named():
    scores, fewer = score_trees(GOLD, GOLD), score_trees(GOLD[:3], GOLD[:3])
    with pytest.raises(IncparseError, match="runs over 60 and 3 sentences"):
        compare(scores, fewer)
    with pytest.raises(IncparseError, match="at least 1 sample, not 0"):
        compare(scores, scores, n=0)


BIRDS = [tree_of("(TOP (S (NP (NNS birds)) (VP (VBP sing)) (. .)))"), tree_of("(TOP (NP (NN tea)))")] * 8
WORSE = [tree_of("(TOP (S (X (NNS birds)) (VP (VBP sing)) (. .)))"), tree_of("(TOP (NP (NN tea)))")] * 8


def test_one_parser():
    report = report_scores(iter(BIRDS), iter(WORSE))
    figures = json.loads(json.dumps(report.to_dict()))
    assert figures["const_f"] == figures["const_p"] == figures["const_r"] == 0.75
    assert (figures["const_exact"], figures["tag_acc"]) == (0.5, 1.0)
    assert (figures["n_sents"], figures["n_scored_words"], figures["no_crossing"]) == (16, 24, 1.0)
    assert figures["per_label"]["NP"] == {"p": 1.0, "r": 0.5, "f": pytest.approx(2 / 3), "n_gold": 16, "n_parsed": 8}
    assert list(figures["by_length"]) == ["1-10"]
    assert figures["up_to_40"]["const_f"] == 0.75
    rows = [line.split() for line in report.format().splitlines()]
    assert ["NP", "50.00", "100.00", "66.67", "16", "8"] in rows
    assert ["1-10", "75.00", "75.00", "75.00", "50.00", "16"] in rows


def test_two_parsers():
    report = report_scores(BIRDS, WORSE, iter(BIRDS), n_bootstrap=100, seed=1)
    figures = json.loads(json.dumps(report.to_dict()))
    assert figures["second"]["const_f"] == 1.0
    assert figures["bootstrap"]["difference"] == pytest.approx(0.25)
    assert figures["bootstrap"]["p_value"] == pytest.approx(1 / 101)
    assert report.format().splitlines()[-1].startswith("Difference in F +25.00")
    assert "bootstrap" not in report_scores(BIRDS, WORSE, BIRDS).to_dict()
    with pytest.raises(IncparseError, match="give a second file"):
        report_scores(BIRDS, BIRDS, n_bootstrap=10)
