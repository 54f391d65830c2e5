import numpy as np
import pytest

from spacy_incparse.errors import ConfigError
from spacy_incparse.rerank.data import ChoiceRule, candidate_values, choose, corpus_f, select_lists
from spacy_incparse.rerank.learner import LogLearner, RiskLearner, find_learner, learner_names, minimize, split_weights
from spacy_incparse.rerank.training import best_trial, contiguous_folds, cross_validate
from tests.reference.rerank_learners import slow_gradient, slow_log_objective, slow_risk_objective
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
def test_the_weights_are_where_the_objective_is_least(kind):
    data = random_data(5, n_lists=8, n_features=6)
    found = LEARNERS[kind].learn(data)
    value = slow_objective(data, kind)
    found = np.concatenate(found)
    assert slow_gradient(value, found) == pytest.approx(np.zeros(len(found)), abs=1e-3)
    others = found + np.random.default_rng(0).normal(0, 0.1, (20, len(found)))
    assert all(value(other) > value(found) for other in others)


def test_the_same_data_give_the_same_bits():
    first, second = (LEARNERS["corpus"].learn(random_data(6)) for _ in range(2))
    assert [weights.tobytes() for weights in first] == [weights.tobytes() for weights in second]


def test_probabilities_far_apart_do_not_overflow():
    data = random_data(2)
    for learner in LEARNERS.values():
        value, gradient = learner.loss(data)(1000 * data.scores[:, 0])
        assert np.isfinite(value)
        assert np.isfinite(gradient).all()


def quadratic(x):
    scale = np.arange(1, len(x) + 1)
    return 1 + 0.5 * (scale * (x - 3) ** 2).sum(), scale * (x - 3)


def rosenbrock(x):
    a, b = x
    gradient = np.array([-2 * (1 - a) - 400 * a * (b - a * a), 200 * (b - a * a)])
    return (1 - a) ** 2 + 100 * (b - a * a) ** 2, gradient


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


def test_unknown_learners_and_settings():
    with pytest.raises(ConfigError, match=r"'svm'.* risk, log, boost, log-greedy, perceptron"):
        find_learner("svm")
    with pytest.raises(ConfigError, match=r"'sigma'.* algorithm, pair_weights, rounds, smoothing"):
        find_learner("boost").from_dict({"sigma": 1})
    with pytest.raises(ConfigError, match=r"target is 'all': .*best, shared"):
        LogLearner(target="all")
    with pytest.raises(ConfigError, match=r"sigma is 0: .*1e-06"):
        RiskLearner(sigma=0)


NAMES = learner_names()
RULES = (ChoiceRule(), ChoiceRule("expected_f", 0.5))


def test_folds_are_contiguous_and_cover_all_lists():
    assert [fold.tolist() for fold in contiguous_folds(11, 3)] == [[0, 1, 2], [3, 4, 5, 6], [7, 8, 9, 10]]
    assert len(contiguous_folds(4, 4)) == 4
    for n_folds in (1, 5):
        with pytest.raises(ConfigError, match=f"4 lists .* {n_folds} folds"):
            contiguous_folds(4, n_folds)


def test_trials_are_what_each_fold_chooses_with_weights_of_the_others():
    data, boost = random_data(0, n_lists=20), find_learner("boost")
    trials = cross_validate(data, [boost(rounds=8)], n_folds=4, rules=RULES)
    assert [(trial.rounds, trial.rule) for trial in trials] == [(n, rule) for n in (1, 2, 4, 8) for rule in RULES]
    for trial in trials:
        chosen = []
        for fold in contiguous_folds(20, 4):
            others = select_lists(data, np.array([k for k in range(20) if k not in fold]))
            weights = boost(rounds=trial.rounds).learn(others)
            all_chosen = choose(data, candidate_values(data, weights), trial.rule.how, trial.rule.scale)
            chosen += all_chosen[fold].tolist()
        assert trial.chosen.tolist() == chosen
        assert trial.f == corpus_f(data, np.array(chosen))
    assert best_trial(trials).f == max(trial.f for trial in trials)


def test_all_learners_have_one_interface():
    data = random_data(1, n_lists=20)
    few = {"boost": {"rounds": 4}, "log-greedy": {"rounds": 4}, "perceptron": {"passes": 2}}
    learners = [find_learner(name)(**few.get(name, {})) for name in NAMES]
    assert [learner.NAME for learner in learners] == list(NAMES)
    for learner in learners:
        weights = learner.learn(data)
        assert (weights.scores.shape, weights.features.shape) == ((1,), (15,))
        assert type(learner).from_dict(learner.to_dict()) == learner
    trials = cross_validate(data, learners, n_folds=2)
    assert {trial.learner.NAME for trial in trials} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [{"most": 1}, {"n_features": 1, "density": 0.0}, {"n_lists": 1}])
def test_lists_that_teach_nothing_do_no_harm(name, shape):
    weights = find_learner(name)().learn(random_data(2, **shape))
    assert np.isfinite(weights.scores).all()
    assert np.isfinite(weights.features).all()
