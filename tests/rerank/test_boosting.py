"""Boosting against its definition, and the efficient algorithm against the naive one."""

import numpy as np
import pytest

from spacy_incparse.errors import ConfigError
from spacy_incparse.papers.collins_2000.learners import BoostLearner, best_base_weight, ranking_pairs
from tests.reference.rerank_learners import slow_boost_loss, slow_boosting
from tests.rerank.random_lists import random_data


def learn(data, **settings):
    return BoostLearner(**settings).learn(data)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("pair_weights", ["none", "f"])
def test_both_algorithms_find_the_weights_of_the_definition(seed, pair_weights):
    data = random_data(seed)
    settings = {"rounds": 30, "smoothing": 0.01, "pair_weights": pair_weights}
    found = learn(data, **settings)
    base_weight, expected, _ = slow_boosting(data, 30, 0.01, by_f=pair_weights == "f")
    assert any(expected)
    assert found.scores[0] == pytest.approx(base_weight, abs=1e-9)
    assert found.features == pytest.approx(expected, abs=1e-9)
    assert learn(data, **settings, algorithm="naive").features == pytest.approx(expected, abs=1e-9)


def test_sums_that_are_changed_often_stay_exact():
    """Also beyond the round in which they are calculated afresh."""
    data = random_data(3, n_lists=30)
    settings = {"rounds": 1500, "smoothing": 0.01}
    expected = learn(data, **settings, algorithm="naive")
    assert learn(data, **settings).features == pytest.approx(expected.features, abs=1e-6)


def test_additions_are_those_of_section_2_4():
    data = random_data(1, n_lists=30, n_features=60, density=0.1)
    pairs = ranking_pairs(data)
    _, naive = BoostLearner(algorithm="naive").start(data)
    _, efficient = BoostLearner().start(data)
    naive.run(20)
    assert naive.n_additions == 20 * len(pairs.slots)  # sum over k of |A_k^+| + |A_k^-| in each round
    assert naive.n_additions == slow_boosting(data, 20, 0.0025)[2]
    differences = np.diff(pairs.slot_starts)
    before = np.zeros(data.n_features)
    for _ in range(20):
        n_before = efficient.n_additions
        efficient.run(1)
        (chosen,) = np.flatnonzero(efficient.weights != before)
        touched = [n for pair, n in enumerate(differences) if chosen in slots_of(pairs, pair) // 2]
        assert efficient.n_additions - n_before == sum(touched)
        before = efficient.weights.copy()
    assert efficient.n_additions < naive.n_additions / 2


def slots_of(pairs, pair):
    return pairs.slots[pairs.slot_starts[pair] : pairs.slot_starts[pair + 1]]


def test_the_loss_falls_in_each_round():
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
    data = random_data(seed, n_lists=40)
    pairs = ranking_pairs(data)
    weight = best_base_weight(pairs.base_margins, np.ones(len(pairs.base_margins)))

    def loss(alpha):
        return np.exp(-alpha * pairs.base_margins).sum()

    assert loss(weight) <= min(loss(weight - 1e-4), loss(weight + 1e-4))


def test_base_scores_that_say_nothing_keep_weight_1():
    assert best_base_weight(np.zeros(5), np.ones(5)) == 1


def test_a_path_is_what_shorter_runs_learn():
    data = random_data(4)
    path = dict(BoostLearner(rounds=12).path(data, [0, 5, 12]))
    assert list(path) == [0, 5, 12]
    assert not path[0].features.any()
    for rounds in (5, 12):
        assert (path[rounds].features == learn(data, rounds=rounds).features).all()


def test_it_stops_when_no_feature_helps():
    data = random_data(0, n_features=3, density=0.0)
    assert not learn(data, rounds=10).features.any()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rounds": -1}, "rounds is -1: it must be at least 0"),
        ({"smoothing": 0}, "smoothing is 0: it must be at least 1e-12"),
        ({"pair_weights": "score"}, "pair_weights is 'score': it must be one of none, f"),
        ({"algorithm": "fast"}, "algorithm is 'fast': it must be one of efficient, naive"),
    ],
)
def test_impossible_settings(settings, message):
    with pytest.raises(ConfigError, match=message):
        BoostLearner(**settings)
