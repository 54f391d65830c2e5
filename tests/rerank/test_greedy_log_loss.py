"""Greedy log loss against its definition."""

import numpy as np
import pytest

from spacy_incparse.errors import ConfigError
from spacy_incparse.papers.collins_2000.learners import GreedyLogLearner
from tests.reference.rerank_learners import SlowGreedyLog
from tests.rerank.random_lists import random_data


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("smoothing", [0.5, 1e-6])
def test_the_weights_are_those_of_the_definition(seed, smoothing):
    data = random_data(seed, n_features=8)
    slow = SlowGreedyLog(data, smoothing, 1e-6, 200)
    for _ in range(6):
        slow.round()
    found = GreedyLogLearner(rounds=6, smoothing=smoothing, tolerance=1e-6, max_scaling=200).learn(data)
    assert any(slow.weights)
    assert found.scores.tolist() == [1]
    assert found.features == pytest.approx(slow.weights, abs=1e-7)


def test_the_loss_falls_in_each_round():
    data = random_data(7, n_lists=30)
    _, learning = GreedyLogLearner().start(data)
    slow = SlowGreedyLog(data, 1.0, 1e-3, 100)
    losses = [learning.loss]
    assert losses[0] == pytest.approx(slow.loss(np.zeros(data.n_features)))
    for _ in range(12):
        assert learning.run(1) == 1
        losses.append(learning.loss)
        assert losses[-1] < losses[-2]
    assert losses[-1] == pytest.approx(slow.loss(learning.weights))


def test_only_features_that_occur_with_the_chosen_one_are_scaled():
    data = random_data(8, n_lists=30, n_features=200, density=0.02)
    _, learning = GreedyLogLearner().start(data)
    assert learning.n_scaled == 0
    learning.run(1)
    (chosen,) = np.flatnonzero(learning.weights)
    lists = np.split(data.features, data.feature_starts[data.list_starts[1:-1]])
    together = np.unique(np.concatenate([features for features in lists if chosen in features]))
    assert learning.n_scaled == len(together) < data.n_features


def test_it_stops_when_no_feature_helps():
    data = random_data(9, n_features=4)
    _, learning = GreedyLogLearner().start(data)
    n_rounds = learning.run(100_000)
    assert n_rounds < 100_000
    assert learning.run(1) == 0


def test_a_path_is_what_shorter_runs_learn():
    data = random_data(4)
    path = dict(GreedyLogLearner().path(data, [0, 3, 9]))
    assert not path[0].features.any()
    for rounds in (3, 9):
        shorter = GreedyLogLearner(rounds=rounds).learn(data)
        assert (path[rounds].features == shorter.features).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rounds": 1.5}, "rounds is 1.5: it must be a whole number"),
        ({"smoothing": 0}, "smoothing is 0: it must be at least 1e-12"),
        ({"tolerance": 0}, "tolerance is 0: it must be at least 1e-12"),
        ({"max_scaling": 0}, "max_scaling is 0: it must be at least 1"),
    ],
)
def test_impossible_settings(settings, message):
    with pytest.raises(ConfigError, match=message):
        GreedyLogLearner(**settings)
