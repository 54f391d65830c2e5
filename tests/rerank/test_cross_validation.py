import numpy as np
import pytest

from spacy_incparse.errors import ConfigError
from spacy_incparse.rerank.data import ChoiceRule, candidate_values, choose, corpus_f, select_lists
from spacy_incparse.rerank.learner import find_learner, learner_names
from spacy_incparse.rerank.training import best_trial, contiguous_folds, cross_validate, round_numbers
from tests.rerank.random_lists import random_data

LEARNERS = learner_names()
RULES = (ChoiceRule(), ChoiceRule("expected_f", 0.5))


def test_folds_are_contiguous_and_cover_all_lists():
    assert [fold.tolist() for fold in contiguous_folds(11, 3)] == [[0, 1, 2], [3, 4, 5, 6], [7, 8, 9, 10]]
    assert len(contiguous_folds(4, 4)) == 4
    for n_folds in (1, 5):
        with pytest.raises(ConfigError, match=f"4 lists .* {n_folds} folds"):
            contiguous_folds(4, n_folds)


def test_numbers_of_rounds():
    assert round_numbers(1000) == [31, 62, 125, 250, 500, 1000]
    assert (round_numbers(3), round_numbers(0)) == ([1, 3], [0])


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
    learners = [find_learner(name)(**few.get(name, {})) for name in LEARNERS]
    assert [learner.NAME for learner in learners] == list(LEARNERS)
    for learner in learners:
        weights = learner.learn(data)
        assert (weights.scores.shape, weights.features.shape) == ((1,), (15,))
        assert type(learner).from_dict(learner.to_dict()) == learner
    trials = cross_validate(data, learners, n_folds=2)
    assert {trial.learner.NAME for trial in trials} == set(LEARNERS)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("shape", [{"most": 1}, {"n_features": 1, "density": 0.0}, {"n_lists": 1}])
def test_lists_that_teach_nothing_do_no_harm(name, shape):
    weights = find_learner(name)().learn(random_data(2, **shape))
    assert np.isfinite(weights.scores).all()
    assert np.isfinite(weights.features).all()


def test_unknown_learners_and_settings():
    with pytest.raises(ConfigError, match=r"'svm'.* risk, log, boost, log-greedy, perceptron"):
        find_learner("svm")
    with pytest.raises(ConfigError, match=r"'sigma'.* algorithm, pair_weights, rounds, smoothing"):
        find_learner("boost").from_dict({"sigma": 1})
