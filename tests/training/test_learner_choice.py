import numpy as np
import pytest

from spacy_incparse.rerank.learners import make_learner
from spacy_incparse.training.learner_choice import GRIDS, RULES, SCALES, learn_weights
from tests.rerank.random_lists import random_data

FIXED = {"sigma": 0.3, "max_iterations": 20}


def learn(data, how=None):
    lines = []
    return learn_weights(data, "risk", FIXED, how=how, n_folds=3, report=lines.append), lines


@pytest.mark.parametrize("how", ["score", "expected_f", None])
def test_the_weights_are_those_of_all_lists(how):
    data = random_data(seed=3)
    learned, _ = learn(data, how)
    weights = make_learner("risk", **FIXED).learn(data)
    assert np.array_equal(learned.weights.features, weights.features)
    assert learned.how in ("score", "expected_f") if how is None else learned.how == how
    assert learned.scale in SCALES


def test_the_better_way_to_choose_is_taken():
    data = random_data(seed=4)
    learned, (line,) = learn(data)
    by_score, by_f = (float(part.split(": ")[-1].split()[0]) for part in line.split(" F by score, "))
    assert learned.how == ("score" if by_score >= by_f else "expected_f")
    assert line.endswith(f"(scale {learned.scale:g})  *")


def test_each_setting_is_reported_and_one_is_marked():
    lines = []
    learn_weights(random_data(seed=5), "boost", {"rounds": 8}, n_folds=3, report=lines.append)
    assert len(lines) == len(GRIDS["boost"]["smoothing"]) * len(GRIDS["boost"]["pair_weights"])
    assert sum(line.endswith("*") for line in lines) == 1
    assert len(RULES) == 1 + len(SCALES)


def test_one_list_is_learned_with_the_first_settings():
    data = random_data(n_lists=1, seed=6)
    learned, lines = learn(data)
    assert (learned.how, learned.scale, lines) == ("score", 1.0, [])
