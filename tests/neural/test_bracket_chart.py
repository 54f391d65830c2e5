"""The chart over one value per span, against enumeration and against the generic forest."""

import numpy as np
import pytest

from spacy_incparse.chart import recurrences
from spacy_incparse.neural.bracket_chart import best_brackets, bracket_marginals
from spacy_incparse.neural.brackets import best_trees, bracket_forest, brackets_of
from tests.reference import bracket_chart as slow

N_LABELS = 3


def random_values(n_words, seed, n_labels=None):
    shape = n_words * (n_words + 1) // 2
    return np.random.default_rng(seed).normal(size=shape if n_labels is None else (shape, n_labels)) * 2


def with_labels(n_words, seed):
    values = random_values(n_words, seed, N_LABELS)
    return np.tile(np.arange(N_LABELS), (len(values), 1)), values


@pytest.mark.parametrize("n_words", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(3))
def test_sums_and_maxima_are_those_of_an_enumeration(n_words, seed):
    values = random_values(n_words, seed)
    score, spans = best_brackets(values, n_words)
    assert (pytest.approx(score), sorted(spans.tolist())) == slow.best(values, n_words)
    log_z, shares = bracket_marginals(values, n_words)
    assert log_z == pytest.approx(slow.log_partition(values, n_words))
    assert shares == pytest.approx(slow.marginals(values, n_words))


@pytest.mark.parametrize("n_words", [1, 2, 7, 13])
def test_the_chart_is_a_special_case_of_the_forest(n_words):
    labels, values = with_labels(n_words, seed=n_words)
    forest, scores = bracket_forest(labels, values, n_words)
    log_z, shares = bracket_marginals(np.logaddexp.reduce(values, axis=1), n_words)
    assert recurrences.log_partition(forest, scores) == pytest.approx(log_z)
    rows, of_edges = forest.edge_array(), recurrences.marginals(forest, scores)
    expected = np.zeros(len(values))
    for (rule, start, _, end), share in zip(rows.tolist(), of_edges, strict=True):
        if rule >= 0:
            expected[end * (end - 1) // 2 + start] += share
    assert shares == pytest.approx(expected)
    score, edges = recurrences.viterbi(forest, scores)
    best, spans = best_brackets(values.max(axis=1), n_words)
    assert best == pytest.approx(score)
    assert [end * (end - 1) // 2 + start for start, end, _ in brackets_of(forest, edges)] == spans.tolist()


def test_best_trees_are_different_and_in_order():
    labels, values = with_labels(6, seed=0)
    found = best_trees(labels, values, 6, 200)
    scores = [score for score, _ in found]
    assert scores == sorted(scores, reverse=True)
    assert len({tuple(brackets) for _, brackets in found}) == 200
    for score, brackets in found[::20]:
        assert score == pytest.approx(sum(values[end * (end - 1) // 2 + start, k] for start, end, k in brackets))


def test_all_trees_of_three_words_are_found_once():
    found = best_trees(np.zeros((6, 1), int), np.zeros((6, 1)), 3, 1000)
    assert len(found) == len(slow.all_trees(3))


def test_a_chart_of_many_words_does_not_recurse():
    n_words = 400
    values = np.full(n_words * (n_words + 1) // 2, -1.0)
    values[[end * (end - 1) // 2 for end in range(1, n_words + 1)]] = 1.0  # all spans from the first word
    score, spans = best_brackets(values, n_words)
    assert score == n_words
    assert len(spans) == n_words
    assert bracket_marginals(values, n_words)[1].max() <= 1 + 1e-9


def test_wrong_sizes_are_reported():
    with pytest.raises(ValueError, match="4 values for the spans of 3 words"):
        best_brackets(np.zeros(4), 3)
    with pytest.raises(ValueError, match="0 values for the spans of 0 words"):
        bracket_marginals(np.zeros(0), 0)
