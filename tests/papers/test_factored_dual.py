"""The dual over edges against the dual over all trees, and the weights that it finds."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_incparse.chart.charts import ChartBuilder
from spacy_incparse.chart.grammar import Grammar, count_rules
from spacy_incparse.papers.taskar_2004.dual import DualExample, FactoredDual, binarized_loss
from spacy_incparse.papers.taskar_2004.features import SparseFeatures, members_of
from spacy_incparse.transforms.binarize import Markovization, markovize
from spacy_incparse.treebanks.reader import read_treebank
from tests.chart.grammars import MAX_TREES, TREEBANKS
from tests.reference.chart import count_derivations, forest_derivations
from tests.reference.margin import plain_dual

SETTINGS = Markovization(collapse_unaries=True)
N_SPANS = 5  # hashed spans, so that sentences share features


def example_of(tree, grammar):
    markovized = markovize(tree.arrays, SETTINGS)
    forest = ChartBuilder(grammar).build(tree.tags).forest
    gold = forest.find(grammar.steps(markovized))
    edges = forest.edge_array()
    groups = (edges[:, 1] * 7 + edges[:, 3]) % N_SPANS
    members = members_of([[grammar.n_rules + k, grammar.n_rules] for k in range(N_SPANS)])
    features = SparseFeatures(edges[:, 0], groups, members)
    losses, constant = binarized_loss(grammar).of_edges(forest, gold)
    return DualExample(forest, gold, features, losses, constant)


def problem(trees):
    grammar = Grammar.from_counts(count_rules([markovize(tree.arrays, SETTINGS) for tree in trees]))
    return grammar, [example_of(tree, grammar) for tree in trees], grammar.n_rules + N_SPANS


def dense(example, n_features):
    """The features of all edges as a matrix, by the definition."""
    found = np.zeros((example.forest.n_edges, n_features))
    owners, members = example.features.members
    for edge, (rule, group) in enumerate(zip(example.features.rules, example.features.groups, strict=True)):
        if rule >= 0:
            found[edge, rule] += 1
        for feature in members[owners == group]:
            found[edge, feature] += 1
    return found


@settings(max_examples=30)
@given(TREEBANKS, st.integers(0, 1000))
def test_scores_and_totals_of_sparse_features(trees, seed):
    _, examples, n_features = problem(trees)
    random = np.random.default_rng(seed)
    weights, example = random.normal(size=n_features), examples[0]
    table = dense(example, n_features)
    np.testing.assert_allclose(example.features.scores(weights), table @ weights, atol=1e-12)
    edges = random.integers(0, example.forest.n_edges, 10)
    values = random.normal(size=10)
    features, sums = example.features.totals(edges, values)
    expected = values @ table[edges]
    np.testing.assert_allclose(sums, expected[features], atol=1e-12)
    assert np.abs(np.delete(expected, features)).max(initial=0) < 1e-12


@settings(max_examples=15)
@given(TREEBANKS, st.sampled_from([0.03, 0.3, 3.0]))
def test_the_solution_is_that_of_the_plain_dual(trees, c):
    _, examples, n_features = problem(trees)
    if any(count_derivations(example.forest) > MAX_TREES for example in examples):
        return
    sentences = []
    for example in examples:
        derivations = [list(edges) for edges in forest_derivations(example.forest)]
        table = dense(example, n_features)
        sentences.append(
            (
                np.array([table[edges].sum(axis=0) for edges in derivations]),
                np.array([example.losses[edges].sum() + example.constant for edges in derivations]),
                derivations.index(example.gold.tolist()),
            )
        )
    weights, objective = plain_dual(sentences, c)
    dual = FactoredDual(examples, n_features, c)
    gaps = list(dual.passes(tolerance=1e-6, max_passes=2000))
    assert gaps[-1].primal - gaps[-1].dual < 1e-4
    assert gaps[-1].dual == pytest.approx(objective, abs=1e-4)
    np.testing.assert_allclose(dual.weights, weights, atol=0.05)


@pytest.fixture(scope="module")
def sample():
    path = Path(__file__).parents[2] / "assets" / "sample-train.mrg"
    return [tree for tree in read_treebank(path) if len(tree.words) <= 12][:40]


@pytest.mark.parametrize("pairwise", [True, False], ids=["pairwise", "frank-wolfe"])
def test_the_gap_falls_to_the_tolerance(sample, pairwise):
    _, examples, n_features = problem(sample)
    dual = FactoredDual(examples, n_features, c=0.1, pairwise=pairwise)
    gaps = list(dual.passes(tolerance=1e-3, max_passes=200))
    assert gaps[-1].relative < 1e-3
    assert len(gaps) < 100
    duals = [gap.dual for gap in gaps]
    assert np.diff(duals).min(initial=0) > -1e-9
    assert all(gap.primal >= gap.dual - 1e-9 for gap in gaps)
    expected = np.zeros(n_features)  # marginals stay a distribution, and weights follow them
    for example in examples:
        nodes, children = example.forest.node_array(), example.forest.child_array()
        incoming = np.zeros(example.forest.n_nodes)
        for column in children.T:
            np.add.at(incoming, column[column >= 0], example.marginals[column >= 0])
        incoming[-1] = 1
        outgoing = np.add.reduceat(example.marginals, nodes[:, 3])
        np.testing.assert_allclose(outgoing, incoming, atol=1e-9)
        assert example.marginals.min() >= 0
        difference = -example.marginals
        difference[example.gold] += 1
        expected += dual.c * difference @ dense(example, n_features)
    np.testing.assert_allclose(dual.weights, expected, atol=1e-8)
