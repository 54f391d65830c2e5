import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_incparse.evaluation.evalb import score_trees
from spacy_incparse.evaluation.nbest import Oracle
from spacy_incparse.trees.tree import Tree
from tests.evaluation.pairs import tree_pairs

GOLD = Tree.from_string("(TOP (S (NP (DT The) (NN rain)) (VP (VBD stopped))))")
FLAT = Tree.from_string("(TOP (S (DT The) (NN rain) (VBD stopped)))")
NO_VP = Tree.from_string("(TOP (S (NP (DT The) (NN rain)) (VBD stopped)))")
NO_NP = Tree.from_string("(TOP (S (DT The) (NN rain) (VP (VBD stopped))))")


def scores_of(lists, sizes):
    oracle = Oracle(sizes)
    for gold, trees in lists:
        oracle.add(gold, trees)
    return oracle.report().scores


def test_by_hand():
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


def test_report():
    oracle = Oracle([1, 50])
    oracle.add(GOLD, [FLAT, GOLD], 0.8)
    report = oracle.report()
    text = report.format().splitlines()
    assert text[0].split() == ["n", "oracle", "F", "mean", "rank", "with", "gold", "mean", "length"]
    assert text[2].split() == ["50", "100.00", "2.00", "100.0%", "2.0"]
    assert "calibration error 80.00" in report.format()
    figures = report.to_dict()
    assert figures["lists"] == 1
    assert [row["n"] for row in figures["oracle"]] == [1, 50]
    assert figures["oracle"][1] == {"n": 50, "f": 1.0, "mean_rank": 2.0, "has_gold": 1.0, "mean_length": 2.0}
    assert figures["calibration"]["error"] == pytest.approx(0.8)
    assert "calibration" not in Oracle([1]).report().to_dict()


@given(st.lists(tree_pairs(), min_size=1, max_size=4))
def test_the_oracle_of_one_tree_is_its_score(pairs):
    gold, parsed = zip(*pairs, strict=True)
    (score,) = scores_of([(g, [p]) for g, p in pairs], [1])
    assert score.f == pytest.approx(score_trees(gold, parsed).all.f)


@given(tree_pairs())
def test_more_trees_are_never_worse(pair):
    gold, parsed = pair
    scores = scores_of([(gold, [parsed, flat(gold), gold])], [1, 2, 3])
    assert scores[0].f <= scores[1].f <= scores[2].f


def flat(tree):
    return Tree.from_string(
        f"(TOP {' '.join(f'({tag} {word})' for word, tag in zip(tree.words, tree.tags, strict=True))})"
    )
