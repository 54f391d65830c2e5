from math import log

import numpy as np
import pytest

from spacy_incparse.errors import IncparseError
from spacy_incparse.parsing.parse import Parse
from spacy_incparse.rerank import features
from spacy_incparse.rerank.data import (
    RerankerWeights,
    best_candidates,
    build_data,
    candidate_values,
    choose,
    expected_f,
    first_candidates,
    is_best,
    list_probabilities,
    phrase_overlaps,
    select_features,
    select_lists,
    sentence_f,
)
from spacy_incparse.rerank.features import FeatureColumns, closed_class_tags, is_prepositional
from spacy_incparse.rerank.lists import CandidateList
from spacy_incparse.trees.tree import Tree
from tests.reference.rerank_learners import SlowLists, probabilities
from tests.rerank.random_lists import random_data

LOW = Tree.from_string("(TOP (S (NP (PRP we)) (VP (VBP eat) (NP (NP (NNS figs)) (PP (IN with) (NP (NN salt)))))))")
HIGH = Tree.from_string("(TOP (S (NP (PRP we)) (VP (VBP eat) (NP (NNS figs)) (PP (IN with) (NP (NN salt))))))")
SHORT = Tree.from_string("(TOP (S (NP (NNS figs)) (VP (VBP fall))))")
FLAT = Tree.from_string("(TOP (FRAG (NNS figs) (VBP fall)))")
COLUMNS = [(label, least) for label in ("TOP", "S", "NP", "VP", "PP", "FRAG") for least in (1, 2, 4)]
LISTS = [
    CandidateList((Parse(HIGH, -4.0, "beam"), Parse(LOW, -6.0, "beam")), 2.0, LOW),
    CandidateList((Parse(FLAT, -1.0, "beam"), Parse(SHORT, -3.0, "beam")), 2.0, SHORT),
]


class LabelCounts:
    """In place of an extractor: each column is a label and how often it is there at least."""

    def columns(self, trees, columns):
        labels = [[label for label, _, _ in tree.spans()] for tree in trees]
        rows = [{k for k, (label, least) in enumerate(columns) if one.count(label) >= least} for one in labels]
        rows = [sorted(row - set.intersection(*rows)) for row in rows]
        return np.cumsum([0, *map(len, rows)]), np.array([k for row in rows for k in row], np.int32)


def test_the_arrays_of_two_lists():
    data = build_data(iter(LISTS), LabelCounts(), COLUMNS)
    assert data.list_starts.tolist() == [0, 2, 4]
    assert data.scores.tolist() == [[-2.0], [-3.0], [-0.5], [-1.5]]
    assert (data.n_gold.tolist(), data.n_phrases.tolist()) == ([7, 3], [6, 7, 1, 3])
    assert data.n_matched.tolist() == [6, 7, 0, 3]
    assert [overlap.tolist() for overlap in data.overlaps] == [[[7, 7], [7, 8]], [[2, 1], [1, 4]]]
    rows = [[COLUMNS[k] for k in row] for row in np.split(data.features, data.feature_starts[1:-1])]
    # HIGH has three NPs, LOW has four; all else is the same and left out.
    assert rows == [[], [("NP", 4)], [("FRAG", 1)], [("S", 1), ("NP", 1), ("VP", 1)]]
    assert (data.n_features, data.features.dtype, data.feature_starts.dtype) == (18, np.int32, np.int64)


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ([LISTS[0], CandidateList(LISTS[1].parses)], "list 2 .*gold tree"),
        ([CandidateList((), 1.0, LOW)], "list 1 .*candidates"),
        ([CandidateList((Parse(LOW, float("nan"), "beam"),), 1.0, LOW)], "list 1 .*finite"),
        ([], "no lists"),
    ],
)
def test_lists_that_nothing_can_be_learnt_from(lists, message):
    with pytest.raises(IncparseError, match=message):
        build_data(lists, LabelCounts(), COLUMNS)


def fields(lists, names=("features", "scores", "matched", "phrases", "gold")):
    return [[[getattr(candidate, name) for name in names] for candidate in candidates] for candidates in lists]


def test_lists_can_be_selected():
    data = random_data(0, n_scores=2)
    part, slow = select_lists(data, np.array([7, 2])), SlowLists(data).lists
    assert fields(SlowLists(part).lists) == fields([slow[7], slow[2]])
    assert (part.overlaps[1] == data.overlaps[2]).all()


@pytest.mark.parametrize("n", [1, 2, 4, 100])
def test_lists_can_be_shortened(n):
    data = random_data(1)
    part, slow = first_candidates(data, n), [candidates[:n] for candidates in SlowLists(data).lists]
    for candidates in slow:
        common = set.intersection(*(candidate.features for candidate in candidates))
        for candidate in candidates:
            candidate.features = candidate.features - common
    assert fields(SlowLists(part).lists) == fields(slow)
    assert [len(overlap) for overlap in part.overlaps] == [len(candidates) for candidates in slow]


def test_features_can_be_selected():
    data = random_data(2)
    found, slow = SlowLists(select_features(data, np.arange(data.n_features) % 3 == 0)).lists, SlowLists(data).lists
    third = [[{k for k in candidate.features if k % 3 == 0} for candidate in candidates] for candidates in slow]
    assert [[candidate.features for candidate in candidates] for candidates in found] == third


def lists_of(*lists):
    """Return (starts, keys) for lists of sets of keys, one set a tree."""
    for trees in lists:
        yield np.cumsum([0, *map(len, trees)]), np.array([key for keys in trees for key in sorted(keys)], np.uint64)


@pytest.mark.parametrize("pending", [1, 3, 1_000])
def test_features_need_enough_lists_and_to_vary_in_one(monkeypatch, pending):
    monkeypatch.setattr(features, "_PENDING", pending)
    lists = [
        [{1, 2, 3}, {1, 2}],  # 3 varies
        [{1, 2, 3, 4}, {1, 3, 4}],  # 2 varies
        [{1, 3, 4}, {1, 3, 4}],
        [{2**64 - 1}, {7}],
    ]
    for n, keys in ((1, [2, 3, 7, 2**64 - 1]), (2, [2, 3]), (3, [3]), (4, [])):
        assert FeatureColumns.select(lists_of(*lists), n).keys.tolist() == keys
    assert len(FeatureColumns.select(lists_of(), 1)) == 0


def test_closed_classes_have_few_new_words():
    trees = [
        Tree.from_string(f"(S (D {'the' if k % 3 else 'A'}) (N noun{k}) (V{'-X' * (k % 2)} is))") for k in range(99)
    ]
    assert closed_class_tags(trees) == ("D", "V")
    assert closed_class_tags(trees, max_productivity=1) == ("D", "N", "V")
    assert closed_class_tags(trees[:1]) == ()
    many = [Tree.from_string(f"(S (N noun{k % 201}) (D d{k % 200}))") for k in range(500)]
    assert closed_class_tags(many) == ("D",)


def test_prepositional_phrases_are_known_by_their_label():
    assert [label for label in ("PP", "NP", "WHPP", "VP", "sp", "prep", "") if is_prepositional(label)] == [
        "PP", "WHPP", "sp", "prep",
    ]  # fmt: skip


TREES = [
    Tree.from_string(text)
    for text in (
        "(TOP (FRAG (N a) (V b) (N c) (P d)))",
        "(TOP (S (NP (N a)) (VP (V b) (NP (NP (N c)) (PP (P d))))))",
        "(TOP (S (NP (N a)) (VP (V b) (NP (N c)) (PP (P d)))))",
    )
]


@pytest.mark.parametrize("seed", range(5))
def test_best_candidates_are_those_of_the_definition(seed):
    data = random_data(seed)
    slow = SlowLists(data)
    assert best_candidates(data).tolist() == [
        int(start) + slow.best(candidates) for start, candidates in zip(data.list_starts[:-1], slow.lists, strict=True)
    ]
    assert sentence_f(data) == pytest.approx([c.f for candidates in slow.lists for c in candidates])
    assert is_best(data).tolist() == [c.f == max(d.f for d in cs) for cs in slow.lists for c in cs]


def test_values_and_probabilities_are_those_of_the_definition():
    data, rng = random_data(3, n_scores=2), np.random.default_rng(0)
    weights = RerankerWeights(rng.normal(size=2), rng.normal(size=data.n_features))
    found = candidate_values(data, weights)
    slow = [[c.value(weights.scores, weights.features) for c in candidates] for candidates in SlowLists(data).lists]
    assert found == pytest.approx([value for values in slow for value in values])
    expected = [p for values in slow for p in probabilities(values)]
    assert list_probabilities(found, data.list_starts) == pytest.approx(expected)


def test_the_highest_value_is_chosen_and_the_first_of_several():
    data = random_data(1)
    values = np.zeros(data.n_candidates)
    assert choose(data, values).tolist() == data.list_starts[:-1].tolist()
    last = data.list_starts[1:] - 1
    values[last] = 1
    assert choose(data, values).tolist() == last.tolist()


def test_expected_f_from_its_definition():
    p = np.exp([log(0.5), log(0.3), log(0.2)])
    overlaps = phrase_overlaps(TREES)
    assert overlaps.tolist() == [[2, 1, 1], [1, 7, 6], [1, 6, 6]]
    n_expected = 0.5 * 2 + 0.3 * 7 + 0.2 * 6
    shared = [0.5 * 2 + 0.5, 0.5 + 0.3 * 7 + 0.2 * 6, 0.5 + 0.3 * 6 + 0.2 * 6]
    expected = [2 * both / (size + n_expected) for both, size in zip(shared, (2, 7, 6), strict=True)]
    assert expected_f(overlaps, p) == pytest.approx(expected)
