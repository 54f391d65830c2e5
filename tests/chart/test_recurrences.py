"""Recurrences over a forest are what they are over the list of all derivations."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_incparse.chart.forest import Forest
from spacy_incparse.chart.recurrences import KBest, inside, log_partition, marginals, viterbi
from tests.chart.grammars import cases
from tests.reference.chart import edge_keys, forest_derivations

SEEDS = st.integers(0, 1000)
FEW = settings(max_examples=40, deadline=None)


def random_scores(forest, seed, spread=2.0):
    return np.random.default_rng(seed).normal(0, spread, forest.n_edges)


def totals(derivations, scores):
    return np.array([sum(scores[edge] for edge in edges) for edges in derivations])


@FEW
@given(cases())
def test_a_forest_has_all_derivations_once(case):
    _, _, forest, expected = case
    keys = edge_keys(forest)
    assert len(set(keys)) == len(keys)
    found = [tuple(keys[edge] for edge in edges) for edges in forest_derivations(forest)]
    assert sorted(found) == sorted(expected)


@FEW
@given(cases(), SEEDS)
def test_inside_and_marginals(case, seed):
    forest = case[2]
    scores, derivations = random_scores(forest, seed), forest_derivations(forest)
    weights = np.exp(totals(derivations, scores))
    assert log_partition(forest, scores) == pytest.approx(np.log(weights.sum()))
    expected = np.zeros(forest.n_edges)
    for edges, weight in zip(derivations, weights, strict=True):
        expected[list(edges)] += weight / weights.sum()
    np.testing.assert_allclose(marginals(forest, scores), expected, atol=1e-12)


@FEW
@given(cases(), SEEDS)
def test_marginals_are_the_gradient_of_the_log_partition(case, seed):
    forest = case[2]
    scores, probabilities = random_scores(forest, seed), marginals(forest, random_scores(forest, seed))
    for edge in range(0, forest.n_edges, 1 + forest.n_edges // 5):
        change = np.zeros(forest.n_edges)
        change[edge] = 1e-5
        difference = log_partition(forest, scores + change) - log_partition(forest, scores - change)
        assert difference / 2e-5 == pytest.approx(probabilities[edge], abs=1e-7)


@FEW
@given(cases(), SEEDS, st.sampled_from([0.0, 2.0]))
def test_the_best_trees_in_order(case, seed, spread):
    forest = case[2]
    scores, derivations = random_scores(forest, seed, spread), forest_derivations(forest)
    expected = sorted(totals(derivations, scores), reverse=True)
    found = list(KBest(forest, scores))
    np.testing.assert_allclose([score for score, _ in found], expected)
    assert sorted(tuple(edges.tolist()) for _, edges in found) == sorted(derivations)
    np.testing.assert_allclose(totals([edges for _, edges in found], scores), expected)
    best, edges = viterbi(forest, scores)
    assert best == found[0][0]
    assert edges.tolist() == found[0][1].tolist()


def test_edges_without_weight(sample_forest):
    scores = np.zeros(sample_forest.n_edges)
    _, best = viterbi(sample_forest, scores)
    scores[:] = -np.inf
    scores[best] = 1
    assert log_partition(sample_forest, scores) == pytest.approx(len(best))
    expected = np.zeros(len(scores))
    expected[best] = 1
    np.testing.assert_allclose(marginals(sample_forest, scores), expected)
    assert [edges.tolist() for _, edges in KBest(sample_forest, scores)] == [best.tolist()]
    scores[:] = -np.inf
    assert marginals(sample_forest, scores).sum() == 0
    assert KBest(sample_forest, scores).tree(0) is None


def test_kbest_finds_only_what_is_asked_for(sample_forest):
    search = KBest(sample_forest, random_scores(sample_forest, 3))
    first = [score for score, _ in islice(search, 3)]
    assert first == sorted(first, reverse=True)
    assert search.tree(1)[0] == first[1]
    with pytest.raises(ValueError, match="the rank is -1"):
        search.tree(-1)


def test_wrong_arrays_are_refused(sample_forest):
    for function in (inside, viterbi, KBest):
        with pytest.raises(ValueError, match=f"3 scores for {sample_forest.n_edges} edges"):
            function(sample_forest, np.zeros(3))
        with pytest.raises(ValueError, match="the forest is empty"):
            function(Forest(), np.zeros(0))
