import numpy as np
import pytest

from spacy_incparse.errors import IncparseError
from spacy_incparse.parsing.parse import Parse
from spacy_incparse.rerank.data import build_data
from spacy_incparse.rerank.lists import CandidateList
from spacy_incparse.trees.tree import Tree

LOW = Tree.from_string("(TOP (S (NP (PRP we)) (VP (VBP eat) (NP (NP (NNS figs)) (PP (IN with) (NP (NN salt)))))))")
HIGH = Tree.from_string("(TOP (S (NP (PRP we)) (VP (VBP eat) (NP (NNS figs)) (PP (IN with) (NP (NN salt))))))")
SHORT = Tree.from_string("(TOP (S (NP (NNS figs)) (VP (VBP fall))))")
FLAT = Tree.from_string("(TOP (FRAG (NNS figs) (VBP fall)))")
LABELS = ["TOP", "S", "NP", "VP", "PP", "FRAG"]


class LabelCounts:
    """A feature for each label (>= 1) and one for each label that is there twice (>= 2)."""

    def columns(self, trees, columns):
        rows = []
        for tree in trees:
            labels = [label for label, _, _ in tree.spans()]
            rows.append([k for k, (label, least) in enumerate(columns) if labels.count(label) >= least])
        common = set.intersection(*map(set, rows))
        rows = [[k for k in row if k not in common] for row in rows]
        starts = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
        return starts, np.array([k for row in rows for k in row], np.int32)


COLUMNS = [(label, least) for label in LABELS for least in (1, 2, 4)]


def lists():
    first = (Parse(HIGH, -4.0, "beam"), Parse(LOW, -6.0, "beam"))
    second = (Parse(FLAT, -1.0, "beam"), Parse(SHORT, -3.0, "beam"))
    return [CandidateList(first, 2.0, LOW), CandidateList(second, 2.0, SHORT)]


def test_the_arrays_of_two_lists():
    data = build_data(iter(lists()), LabelCounts(), COLUMNS)
    assert data.list_starts.tolist() == [0, 2, 4]
    assert data.scores.tolist() == [[-2.0], [-3.0], [-0.5], [-1.5]]
    assert (data.n_gold.tolist(), data.n_phrases.tolist()) == ([7, 3], [6, 7, 1, 3])
    assert data.n_matched.tolist() == [6, 7, 0, 3]
    assert [overlap.tolist() for overlap in data.overlaps] == [[[7, 7], [7, 8]], [[2, 1], [1, 4]]]
    rows = np.split(data.features, data.feature_starts[1:-1])
    names = [[COLUMNS[k] for k in row] for row in rows]
    # HIGH has three NPs, LOW has four; all else is the same and left out.
    assert names == [[], [("NP", 4)], [("FRAG", 1)], [("S", 1), ("NP", 1), ("VP", 1)]]
    assert (data.n_features, data.features.dtype, data.feature_starts.dtype) == (18, np.int32, np.int64)


def test_lists_that_nothing_can_be_learnt_from():
    good, other = lists()
    without_gold = CandidateList(other.parses, 1.0, None)
    with pytest.raises(IncparseError, match="list 2 has no gold tree"):
        build_data([good, without_gold], LabelCounts(), COLUMNS)
    with pytest.raises(IncparseError, match="list 1 has no candidates"):
        build_data([CandidateList((), 1.0, LOW)], LabelCounts(), COLUMNS)
    with pytest.raises(IncparseError, match="list 1 has a candidate whose score is not a finite number"):
        build_data([CandidateList((Parse(LOW, float("nan"), "beam"),), 1.0, LOW)], LabelCounts(), COLUMNS)
    with pytest.raises(IncparseError, match="there are no lists"):
        build_data([], LabelCounts(), COLUMNS)
