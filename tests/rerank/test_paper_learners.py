from random import Random

import numpy as np
import pytest

from spacy_incparse.papers.collins_2000.learners import (
    BoostLearner,
    GreedyLogLearner,
    RankPerceptronLearner,
    best_base_weight,
    ranking_pairs,
)
from tests.reference.rerank_learners import SlowGreedyLog, slow_boost_loss, slow_boosting, slow_perceptron
from tests.rerank.random_lists import random_data


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("pair_weights", ["none", "f"])
def test_both_algorithms_of_boosting_find_the_weights_of_the_definition(seed, pair_weights):
    data = random_data(seed)
    settings = {"rounds": 30, "smoothing": 0.01, "pair_weights": pair_weights}
    found = BoostLearner(**settings).learn(data)
    base_weight, expected, _ = slow_boosting(data, 30, 0.01, by_f=pair_weights == "f")
    assert any(expected)
    assert found.scores[0] == pytest.approx(base_weight, abs=1e-9)
    assert found.features == pytest.approx(expected, abs=1e-9)
    assert BoostLearner(**settings, algorithm="naive").learn(data).features == pytest.approx(expected, abs=1e-9)


def test_sums_that_are_changed_often_stay_exact():
    """Also beyond the round in which they are calculated afresh."""
    data = random_data(3, n_lists=30)
    efficient, naive = (BoostLearner(rounds=1500, smoothing=0.01, algorithm=name) for name in ("efficient", "naive"))
    assert efficient.learn(data).features == pytest.approx(naive.learn(data).features, abs=1e-6)


def test_additions_are_those_of_section_2_4():
    data = random_data(1, n_lists=30, n_features=60, density=0.1)
    pairs = ranking_pairs(data)
    _, naive = BoostLearner(algorithm="naive").start(data)
    _, efficient = BoostLearner().start(data)
    naive.run(20)
    assert naive.n_additions == 20 * len(pairs.slots)  # sum over k of |A_k^+| + |A_k^-| in each round
    assert naive.n_additions == slow_boosting(data, 20, 0.0025)[2]
    slots = np.split(pairs.slots, pairs.slot_starts[1:-1])
    before = np.zeros(data.n_features)
    for _ in range(20):
        n_before = efficient.n_additions
        efficient.run(1)
        (chosen,) = np.flatnonzero(efficient.weights != before)
        assert efficient.n_additions - n_before == sum(len(found) for found in slots if chosen in found // 2)
        before = efficient.weights.copy()
    assert efficient.n_additions < naive.n_additions / 2


def test_the_loss_of_boosting_falls_in_each_round():
    data = random_data(2)
    base_weight, boosting = BoostLearner().start(data)
    losses = [boosting.loss]
    for _ in range(25):
        boosting.run(1)
        losses.append(boosting.loss)
        assert losses[-1] < losses[-2]
    assert losses[0] == pytest.approx(slow_boost_loss(data, base_weight, np.zeros(data.n_features)))
    assert losses[-1] == pytest.approx(slow_boost_loss(data, base_weight, boosting.weights))


@pytest.mark.parametrize("seed", range(4))
def test_the_base_weight_is_where_the_loss_is_least(seed):
    margins = ranking_pairs(random_data(seed, n_lists=40)).base_margins
    weight = best_base_weight(margins, np.ones(len(margins)))
    losses = [np.exp(-alpha * margins).sum() for alpha in (weight - 1e-4, weight, weight + 1e-4)]
    assert min(losses) == losses[1]
    assert best_base_weight(0 * margins, np.ones(len(margins))) == 1  # scores that say nothing


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("smoothing", [0.5, 1e-6])
def test_greedy_log_loss_finds_the_weights_of_the_definition(seed, smoothing):
    data = random_data(seed, n_features=8)
    slow = SlowGreedyLog(data, smoothing, 1e-6, 200)
    for _ in range(6):
        slow.round()
    found = GreedyLogLearner(rounds=6, smoothing=smoothing, tolerance=1e-6, max_scaling=200).learn(data)
    assert any(slow.weights)
    assert found.scores.tolist() == [1]
    assert found.features == pytest.approx(slow.weights, abs=1e-7)


def test_learning_stops_when_no_feature_helps():
    assert not BoostLearner(rounds=10).learn(random_data(0, n_features=3, density=0.0)).features.any()
    _, learning = GreedyLogLearner().start(random_data(9, n_features=4))
    assert learning.run(100_000) < 100_000
    assert learning.run(1) == 0


@pytest.mark.parametrize("seed", range(4))
def test_the_perceptron_finds_the_weights_of_the_definition(seed):
    data, random = random_data(seed), Random(seed)
    order, orders = list(range(data.n_lists)), []
    for _ in range(3):
        random.shuffle(order)
        orders.append(list(order))
    found = RankPerceptronLearner(passes=3, base_weight=1.5, seed=seed).learn(data)
    expected = slow_perceptron(data, orders, 1.5)
    assert any(expected)
    assert found.scores.tolist() == [1.5]
    assert found.features == pytest.approx(expected)


@pytest.mark.parametrize("kind", [BoostLearner, GreedyLogLearner, RankPerceptronLearner])
def test_a_path_is_what_shorter_runs_learn(kind):
    data = random_data(4)
    path = dict(kind().path(data, [0, 3, 9]))
    assert list(path) == [0, 3, 9]
    assert not path[0].features.any()
    for rounds in (3, 9):
        assert (path[rounds].features == kind(**{kind.LENGTH: rounds}).learn(data).features).all()
