"""The averaged perceptron against its definition."""

from random import Random

import pytest

from spacy_incparse.errors import ConfigError
from spacy_incparse.papers.collins_2000.learners import RankPerceptronLearner
from tests.reference.rerank_learners import slow_perceptron
from tests.rerank.random_lists import random_data


def shuffled_orders(n_lists, n_passes, seed):
    random, order, orders = Random(seed), list(range(n_lists)), []
    for _ in range(n_passes):
        random.shuffle(order)
        orders.append(list(order))
    return orders


@pytest.mark.parametrize("seed", range(4))
def test_the_weights_are_those_of_the_definition(seed):
    data = random_data(seed)
    found = RankPerceptronLearner(passes=3, base_weight=1.5, seed=seed).learn(data)
    expected = slow_perceptron(data, shuffled_orders(data.n_lists, 3, seed), 1.5)
    assert any(expected)
    assert found.scores.tolist() == [1.5]
    assert found.features == pytest.approx(expected)


def test_a_path_is_what_shorter_runs_learn():
    data = random_data(4)
    path = dict(RankPerceptronLearner().path(data, [0, 2, 4]))
    assert not path[0].features.any()
    for passes in (2, 4):
        shorter = RankPerceptronLearner(passes=passes).learn(data)
        assert (path[passes].features == shorter.features).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"passes": -1}, "passes is -1: it must be at least 0"),
        ({"base_weight": -1}, "base_weight is -1: it must be at least 0"),
        ({"seed": "a"}, "seed is 'a': it must be a whole number"),
    ],
)
def test_impossible_settings(settings, message):
    with pytest.raises(ConfigError, match=message):
        RankPerceptronLearner(**settings)
