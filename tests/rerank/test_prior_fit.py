"""Log loss and expected F under a prior: values and gradients against the definitions, minima against slow fits."""

import numpy as np
import pytest

from spacy_incparse.errors import ConfigError
from spacy_incparse.rerank.learner import LogLearner, RiskLearner, minimize, split_weights
from tests.reference.rerank_learners import slow_gradient, slow_log_objective, slow_minimum, slow_risk_objective
from tests.rerank.random_lists import random_data

SIGMA = 0.7
LEARNERS = {
    "best": LogLearner(target="best", sigma=SIGMA, max_iterations=200, tolerance=1e-13),
    "shared": LogLearner(target="shared", sigma=SIGMA, max_iterations=200, tolerance=1e-13),
    "corpus": RiskLearner(sigma=SIGMA, max_iterations=200, tolerance=1e-13),
}


def slow_objective(data, kind):
    def value(x):
        scores, weights = (list(map(float, part)) for part in split_weights(data, x))
        if kind in ("best", "shared"):
            return slow_log_objective(data, scores, weights, SIGMA, shared=kind == "shared")
        return slow_risk_objective(data, scores, weights, SIGMA)

    return value


@pytest.mark.parametrize("kind", LEARNERS)
@pytest.mark.parametrize("seed", range(3))
def test_values_and_gradients_are_those_of_the_definition(kind, seed):
    data = random_data(seed, n_scores=2)
    x = np.random.default_rng(seed).normal(size=2 + data.n_features)
    value, gradient = LEARNERS[kind].objective(data)(x)
    assert value == pytest.approx(slow_objective(data, kind)(x))
    assert gradient == pytest.approx(slow_gradient(slow_objective(data, kind), x), abs=1e-7)


@pytest.mark.parametrize("kind", LEARNERS)
def test_the_weights_are_those_that_a_slow_fit_finds(kind):
    data = random_data(5, n_lists=8, n_features=6)
    found = LEARNERS[kind].learn(data)
    value = slow_objective(data, kind)
    start = np.eye(1 + data.n_features)[0]
    assert np.concatenate(found) == pytest.approx(slow_minimum(value, start), abs=1e-3)
    assert slow_gradient(value, np.concatenate(found)) == pytest.approx(np.zeros(len(start)), abs=1e-3)


def test_the_same_data_give_the_same_bits():
    first, second = (LEARNERS["corpus"].learn(random_data(6)) for _ in range(2))
    assert [weights.tobytes() for weights in first] == [weights.tobytes() for weights in second]


def test_a_tight_prior_keeps_the_features_out():
    found = RiskLearner(sigma=1e-4).learn(random_data(1))
    assert np.abs(found.features).max() < 1e-3


def test_probabilities_far_apart_do_not_overflow():
    data = random_data(2)
    for learner in LEARNERS.values():
        value, gradient = learner.loss(data)(1000 * data.scores[:, 0])
        assert np.isfinite(value)
        assert np.isfinite(gradient).all()


def test_a_path_has_the_minimum_alone():
    learner = LogLearner()
    ((rounds, _),) = learner.path(random_data(), [10, learner.n_rounds])
    assert rounds == learner.n_rounds


def quadratic(x):
    scale = np.arange(1, len(x) + 1)
    return 1 + 0.5 * (scale * (x - 3) ** 2).sum(), scale * (x - 3)


def rosenbrock(x):
    a, b = x
    gradient = np.array([-2 * (1 - a) - 400 * a * (b - a * a), 200 * (b - a * a)])
    return (1 - a) ** 2 + 100 * (b - a * a) ** 2, gradient


def test_a_quadratic_function():
    found = minimize(quadratic, np.zeros(50), tolerance=1e-14)
    assert found.x == pytest.approx(np.full(50, 3.0), abs=1e-5)
    assert found.n_iterations < 60


def test_a_curved_valley():
    found = minimize(rosenbrock, np.array([-1.2, 1.0]), tolerance=0)
    assert found.x == pytest.approx([1, 1], abs=1e-6)
    assert found.n_iterations < 60


def test_iterations_are_bounded_and_a_minimum_stays():
    found = minimize(quadratic, np.zeros(50), max_iterations=3)
    assert found.n_iterations == 3
    assert found.value < quadratic(np.zeros(50))[0]
    found = minimize(quadratic, np.full(4, 3.0))
    assert (found.n_iterations, found.value) == (0, 1)


def test_values_that_are_no_numbers_are_too_far():
    found = minimize(lambda x: ((x - np.log(x)).sum(), 1 - 1 / x), np.array([0.01]), tolerance=1e-14)
    assert found.x == pytest.approx([1], abs=1e-5)


@pytest.mark.parametrize(
    ("learner", "values", "message"),
    [
        (LogLearner, {"target": "all"}, "target is 'all': .*best, shared"),
        (RiskLearner, {"sigma": 0}, "sigma is 0: .*1e-06"),
        (LogLearner, {"max_iterations": 0}, "max_iterations is 0: .*1"),
        (LogLearner, {"tolerance": "small"}, "tolerance is 'small': .*number"),
    ],
)
def test_impossible_settings(learner, values, message):
    with pytest.raises(ConfigError, match=message):
        learner(**values)
