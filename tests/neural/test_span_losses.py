"""The three losses of span scores: gradients against finite differences, loss-augmented search against enumeration."""

import numpy as np
import pytest

from spacy_incparse.neural.brackets import LOSSES, crf_loss, label_marginals, max_margin_loss
from tests.reference.bracket_chart import all_spans, all_trees

N_LABELS = 2


def random_scores(n_words, seed=0):
    generator = np.random.default_rng(seed)
    return generator.normal(size=(n_words * (n_words + 1) // 2, N_LABELS)).astype("float32")


def gold_tree(n_words, seed=0):
    generator = np.random.default_rng(seed + 100)
    trees = all_trees(n_words)
    tree = trees[generator.integers(len(trees))]
    return np.array([(span, generator.integers(N_LABELS)) for span in tree], int).reshape(-1, 2)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("seed", range(4))
def test_gradients_are_finite_differences(name, seed):
    scores, gold = random_scores(4, seed), gold_tree(4, seed)
    _, gradient = LOSSES[name](scores, 4, gold)
    assert gradient.dtype == np.float32
    step = 1e-3
    for place in np.ndindex(scores.shape):
        above, below = scores.copy(), scores.copy()
        above[place] += step
        below[place] -= step
        slope = (LOSSES[name](above, 4, gold)[0] - LOSSES[name](below, 4, gold)[0]) / (2 * step)
        assert slope == pytest.approx(float(gradient[place]), abs=2e-3)


@pytest.mark.parametrize("seed", range(6))
def test_the_margin_is_that_of_the_worst_tree(seed):
    """The hinge loss of all labeled trees, by enumeration."""
    scores, gold = random_scores(3, seed), gold_tree(3, seed)
    expected = {tuple(row) for row in gold.tolist()}
    worst = 0.0
    for tree in all_trees(3):
        for labels in np.ndindex(*[N_LABELS] * len(tree)):
            found = set(zip(tree, labels, strict=True))
            distance = len(found - expected) + len(expected - found)
            worst = max(worst, distance + sum(scores[row] for row in found) - sum(scores[row] for row in expected))
    assert max_margin_loss(scores, 3, gold)[0] == pytest.approx(worst, abs=1e-4)


def test_a_gold_tree_that_wins_clearly_costs_nothing():
    scores, gold = np.full((10, N_LABELS), -5, "float32"), gold_tree(4)
    scores[gold[:, 0], gold[:, 1]] = 5
    loss, gradient = max_margin_loss(scores, 4, gold)
    assert loss == 0
    assert not gradient.any()


def test_probabilities_of_labels_sum_up_over_trees():
    scores, gold = random_scores(3), gold_tree(3)
    totals = {}
    for tree in all_trees(3):
        for labels in np.ndindex(*[N_LABELS] * len(tree)):
            totals[tuple(tree), labels] = sum(float(scores[row]) for row in zip(tree, labels, strict=True))
    log_z = np.logaddexp.reduce(list(totals.values()))
    expected = np.zeros((len(all_spans(3)), N_LABELS))
    for (tree, labels), total in totals.items():
        expected[list(tree), list(labels)] += np.exp(total - log_z)
    found_log_z, found = label_marginals(scores, 3)
    assert found_log_z == pytest.approx(log_z, rel=1e-5)
    assert found == pytest.approx(expected, abs=1e-5)
    assert crf_loss(scores, 3, gold)[0] > 0
