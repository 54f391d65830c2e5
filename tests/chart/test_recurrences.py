from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_incparse.chart.charts import (
    TAG_GAIN,
    ChartBuilder,
    derived_tree,
    expected_f_scores,
    max_rule_scores,
    phrase_probabilities,
)
from spacy_incparse.chart.forest import Forest
from spacy_incparse.chart.recurrences import EdgeLabels, KBest, inside, log_partition, marginals, viterbi
from spacy_incparse.parsing.parse import Constraint
from tests.chart.grammars import cases
from tests.reference.chart import forest_derivations

SEEDS = st.integers(0, 1000)
FEW = settings(max_examples=40)


def random_scores(forest, seed, spread=2.0):
    return np.random.default_rng(seed).normal(0, spread, forest.n_edges)


def totals(derivations, scores):
    return np.array([sum(scores[edge] for edge in edges) for edges in derivations])


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


def test_wrong_arrays_are_refused(sample_grammar, sample_forest):
    for function in (inside, viterbi, KBest):
        with pytest.raises(ValueError, match=f"3 scores for {sample_forest.n_edges} edges"):
            function(sample_forest, np.zeros(3))
        with pytest.raises(ValueError, match="the forest is empty"):
            function(Forest(), np.zeros(0))
    labels = EdgeLabels(sample_grammar)
    with pytest.raises(ValueError, match="1 values for"):
        labels.expected(sample_forest, np.zeros(1))
    with pytest.raises(ValueError, match="scores of shape"):
        labels.edge_scores(sample_forest, np.zeros((1, 1)))


def all_trees(case, seed):
    """The scores of edges, and each derivation with its tree's brackets and its probability."""
    grammar, tags, forest = case
    scores, derivations = random_scores(forest, seed, 1.5), forest_derivations(forest)
    weights = np.exp(totals(derivations, scores))
    trees = [derived_tree(forest, np.array(edges, np.int32), grammar, tags, tags) for edges in derivations]
    brackets = [Counter((label, start, end) for label, start, end in tree.spans()) for tree in trees]
    return scores, derivations, brackets, weights / weights.sum()


def expected_brackets(brackets, shares):
    expected = defaultdict(float)
    for here, share in zip(brackets, shares, strict=True):
        for bracket, count in here.items():
            expected[bracket] += share * count
    return expected


@FEW
@given(cases(), SEEDS)
def test_expected_numbers_of_brackets(case, seed):
    grammar, _, forest = case
    scores, _, brackets, shares = all_trees(case, seed)
    labels, probabilities = EdgeLabels(grammar), marginals(forest, scores)
    table, spans = labels.expected(forest, probabilities), labels.spans(forest).tolist()
    found = {
        (grammar.labels[label], *spans[row]): table[row, label] for row, label in zip(*table.nonzero(), strict=True)
    }
    expected = expected_brackets(brackets, shares)
    assert found == pytest.approx(dict(expected))
    phrases = phrase_probabilities(forest, probabilities, labels, grammar.labels, least=0.01)
    wanted = {phrase: min(p, 1.0) for phrase, p in expected.items() if p >= 0.01}
    assert phrases == pytest.approx(wanted)


@FEW
@given(cases(), SEEDS, st.sampled_from([0.3, 0.5]))
def test_the_tree_of_the_highest_expected_gain(case, seed, threshold):
    grammar, _, forest = case
    scores, derivations, brackets, shares = all_trees(case, seed)
    expected = expected_brackets(brackets, shares)
    gains = [
        sum(count * (expected[bracket] - threshold) for bracket, count in here.items() if bracket[0] != "TOP")
        for here in brackets
    ]
    ignored = (grammar.labels.index("TOP"),)
    probabilities = marginals(forest, scores)
    edge_scores = expected_f_scores(forest, probabilities, EdgeLabels(grammar), threshold=threshold, ignored=ignored)
    best, edges = viterbi(forest, edge_scores)
    tags = np.where(forest.child_array()[:, 0] < 0, TAG_GAIN * probabilities, 0)
    gains = [gain + tags[list(edges)].sum() for gain, edges in zip(gains, derivations, strict=True)]
    assert best == pytest.approx(max(gains))
    assert gains[derivations.index(tuple(edges.tolist()))] == pytest.approx(best)


@FEW
@given(cases(), SEEDS)
def test_the_tree_of_the_highest_product_of_rule_probabilities(case, seed):
    forest = case[2]
    scores, derivations, _, shares = all_trees(case, seed)
    probabilities = np.zeros(forest.n_edges)
    for edges, share in zip(derivations, shares, strict=True):
        probabilities[list(edges)] += share
    products = [np.prod(probabilities[list(edges)]) for edges in derivations]
    best, _ = viterbi(forest, max_rule_scores(marginals(forest, scores)))
    assert np.exp(best) == pytest.approx(max(products))


def test_brackets_of_relaxed_trees(sample_grammar):
    tags = ["IN", "IN", "DT", "NN", "VBD"]
    forest = ChartBuilder(sample_grammar).build(tags, [Constraint(1, 3, "VP")]).forest
    labels = EdgeLabels(sample_grammar)
    table, spans = labels.expected(forest, marginals(forest, np.zeros(forest.n_edges))), labels.spans(forest).tolist()
    for label, start, end in (("TOP", 0, 5), ("VP", 1, 3)):
        assert table[spans.index([start, end]), sample_grammar.labels.index(label)] == pytest.approx(1)
