import numpy as np
import pytest

from spacy_incparse.rerank.learner import minimize


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


def test_iterations_are_bounded():
    found = minimize(quadratic, np.zeros(50), max_iterations=3)
    assert found.n_iterations == 3
    assert found.value < quadratic(np.zeros(50))[0]


def test_a_minimum_stays():
    found = minimize(quadratic, np.full(4, 3.0))
    assert (found.n_iterations, found.value) == (0, 1)


def test_values_that_are_no_numbers_are_too_far():
    found = minimize(lambda x: ((x - np.log(x)).sum(), 1 - 1 / x), np.array([0.01]), tolerance=1e-14)
    assert found.x == pytest.approx([1], abs=1e-5)
