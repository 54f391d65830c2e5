import math
from dataclasses import astuple

import pytest

from spacy_incparse import Tree
from spacy_incparse.repair.compare import KINDS, annotation_differences, count_decisions, weighted_log_odds
from spacy_incparse.treebanks.reader import WITH_FUNCTIONS, normalize

RELATIVE = "(TOP (NP (NP (NN cat)) (SBAR ({label} (WP who)) (S (VP (VBD slept))))))"


def relative(label):
    return Tree.from_string(RELATIVE.format(label=label))


def test_decisions_of_a_tree():
    tree = relative("WHNP")
    expected = {
        "production": {("TOP", "NP"), ("NP", "NP SBAR"), ("NP", "NN"), ("SBAR", "WHNP S"), ("WHNP", "WP"), ("S", "VP"),
                       ("VP", "VBD")},
        "chain": {("NP", "-"), ("NN", "NP"), ("SBAR", "-"), ("WP", "WHNP"), ("VBD", "S+VP")},
        "tag": {("NN", "NP"), ("WP", "WHNP"), ("VBD", "VP")},
        "word": {("cat", "NN in NP"), ("who", "WP in WHNP"), ("slept", "VBD in VP")},
    }  # fmt: skip
    assert {kind: set(count_decisions([tree], kind)) for kind in KINDS} == expected
    assert count_decisions([tree.children[0].children[0]], "production") == {("NP", "NN"): 1}


def test_what_one_treebank_does_and_the_other_does_not_comes_first():
    mine, other = [relative("NP")] * 40 + [relative("WHNP")] * 10, [relative("WHNP")] * 50
    rows = annotation_differences(mine, other, kinds=["tag"])
    assert [astuple(row)[:-2] for row in rows] == [
        ("tag", "WP", "NP", 40, 50, 0, 50),
        ("tag", "WP", "WHNP", 10, 50, 50, 50),
    ]
    assert rows[0].log_odds > 0 > rows[1].log_odds
    assert rows[0].at_least == pytest.approx(rows[1].at_least)
    assert annotation_differences(mine, other, kinds=["tag"], min_total=51) == []
    assert all(row.outcome != "-" for row in annotation_differences(mine, other))


def test_equal_treebanks_do_not_differ():
    trees = [relative("NP"), relative("WHNP")] * 20
    assert not any(row.log_odds or row.at_least for row in annotation_differences(trees, trees))


def test_weighted_log_odds_by_hand():
    # The prior expects 2 * 6 / 20 = 0.6 of its 2 decisions.
    log_odds, deviation = weighted_log_odds(4, 10, 2, 10, prior=2)
    assert log_odds == pytest.approx(math.log(4.6 / 7.4) - math.log(2.6 / 9.4))
    assert deviation == pytest.approx(math.sqrt(1 / 4.6 + 1 / 7.4 + 1 / 2.6 + 1 / 9.4))


def test_functions_stay_and_indices_go():
    tree = Tree.from_string("( (S (NP-SBJ-1 (DT the) (NN-2 cat)) (NP=3 (-NONE- *)) (-LRB- -LRB-)))")
    assert str(normalize(tree, WITH_FUNCTIONS)) == "(TOP (S (NP-SBJ (DT the) (NN-2 cat)) (-LRB- -LRB-)))"
