import json

import pytest

from spacy_incparse.errors import IncparseError
from spacy_incparse.evaluation.significance import report_scores
from tests.reference.evalb import tree_of

GOLD = [tree_of("(TOP (S (NP (NNS birds)) (VP (VBP sing)) (. .)))"), tree_of("(TOP (NP (NN tea)))")] * 8
WORSE = [tree_of("(TOP (S (X (NNS birds)) (VP (VBP sing)) (. .)))"), tree_of("(TOP (NP (NN tea)))")] * 8


def test_one_parser():
    report = report_scores(iter(GOLD), iter(WORSE))
    figures = json.loads(json.dumps(report.to_dict()))
    assert figures["const_f"] == figures["const_p"] == figures["const_r"] == 0.75
    assert (figures["const_exact"], figures["tag_acc"]) == (0.5, 1.0)
    assert (figures["n_sents"], figures["n_scored_words"], figures["no_crossing"]) == (16, 24, 1.0)
    assert figures["per_label"]["NP"] == {"p": 1.0, "r": 0.5, "f": pytest.approx(2 / 3), "n_gold": 16, "n_parsed": 8}
    assert list(figures["by_length"]) == ["1-10"]
    assert figures["up_to_40"]["const_f"] == 0.75


def test_text_has_summary_and_tables():
    text = report_scores(GOLD, WORSE).format()
    assert text.startswith("-- All --\nNumber of sentence        =     16\n")
    assert "-- len<=40 --" in text
    assert "NP             50.00  100.00   66.67      16       8" in text
    assert "1-10           75.00   75.00   75.00   50.00      16" in text


def test_evalb_mode_prints_a_line_a_sentence():
    text = report_scores(GOLD, WORSE, as_evalb=True).format()
    assert "   2    1    0  100.00 100.00     1      1    1      0      1     1   100.00\n" in text
    assert "=== Summary ===" in text
    assert text.splitlines()[-1].startswith("Tagging accuracy")


def test_two_parsers():
    report = report_scores(GOLD, WORSE, iter(GOLD), n_bootstrap=100, seed=1)
    figures = json.loads(json.dumps(report.to_dict()))
    assert figures["second"]["const_f"] == 1.0
    assert figures["bootstrap"]["difference"] == pytest.approx(0.25)
    assert figures["bootstrap"]["p_value"] == pytest.approx(1 / 101)
    assert report.format().splitlines()[-1].startswith("Difference in F +25.00")
    assert "bootstrap" not in report_scores(GOLD, WORSE, GOLD).to_dict()


def test_bootstrap_needs_two_parsers():
    with pytest.raises(IncparseError, match="give a second file"):
        report_scores(GOLD, GOLD, n_bootstrap=10)
