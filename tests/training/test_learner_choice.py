import math
from dataclasses import replace

import numpy as np
import pytest

from spacy_incparse.rerank.data import first_candidates, sentence_f
from spacy_incparse.rerank.learner import find_learner
from spacy_incparse.rerank.training import RULES, SCALES, learn_weights
from tests.rerank.random_lists import random_data

FIXED = {"sigma": 0.3, "max_iterations": 20}


def learn(data, how=None):
    lines = []
    return learn_weights(data, ["risk"], FIXED, how=how, n_folds=3, report=lines.append), lines


@pytest.mark.parametrize("how", ["score", "expected_f", None])
def test_the_weights_are_those_of_all_lists(how):
    data = random_data(seed=3)
    learned, _ = learn(data, how)
    weights = find_learner("risk")(**FIXED).learn(data)
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
    learn_weights(random_data(seed=5), ["boost"], {"rounds": 8}, n_folds=3, report=lines.append)
    assert len(lines) == math.prod(map(len, find_learner("boost").GRID.values()))
    assert sum(line.endswith("*") for line in lines) == 1
    assert len(RULES) == 1 + len(SCALES)


def test_the_better_of_several_learners_is_taken():
    data, lines = random_data(seed=5), []
    fixed = {"sigma": 0.3, "max_iterations": 20}
    alone = [learn_weights(data, [name], fixed, n_folds=3) for name in ("risk", "log")]
    learned = learn_weights(data, ["risk", "log"], fixed, n_folds=3, report=lines.append)
    best = max(alone, key=lambda one: one.f)
    assert alone[0].f != alone[1].f
    assert (learned.f, learned.how, learned.scale) == (best.f, best.how, best.scale)
    assert np.array_equal(learned.weights.features, best.weights.features)
    assert {line.split(":")[0].strip() for line in lines} == {"risk", "log"}
    assert sum(line.endswith("*") for line in lines) == 1


@pytest.mark.parametrize(("is_misled", "n"), [(True, 10), (False, None)])
def test_lists_are_shorter_where_the_other_trees_mislead(is_misled, n):
    data, lines = long_lists(is_misled=is_misled), []
    learned = learn_weights(data, ["risk"], FIXED, how="score", n_folds=3, report=lines.append)
    assert learned.n == n
    assert [line.split(":")[1].partition("the first ")[2] for line in lines] == ["", "10 trees", "20 trees"]
    assert [line.endswith("*") for line in lines] == [n is None, n == 10, False]
    if n is not None:
        weights = find_learner("risk")(**FIXED).learn(first_candidates(data, n))
        assert np.array_equal(learned.weights.features, weights.features)


def long_lists(*, is_misled):
    """Lists whose trees after the tenth are all right and score highest, or all wrong and score so in every other."""
    data = random_data(seed=1, n_lists=30, most=24)
    lists = np.repeat(np.arange(data.n_lists), np.diff(data.list_starts))
    is_late = np.arange(data.n_candidates) - data.list_starts[lists] >= 10
    n_phrases = np.where(is_late, data.n_gold[lists], data.n_phrases)
    n_matched = np.where(is_late, 0 if is_misled else n_phrases, data.n_matched)
    scores = np.where(is_late, np.where(is_misled & (lists % 2 == 0), -50.0, 50.0), sentence_f(data))
    return replace(data, n_phrases=n_phrases, n_matched=n_matched, scores=scores[:, None])


def test_one_list_is_learned_with_the_first_settings():
    data = random_data(n_lists=1, seed=6)
    learned, lines = learn(data)
    assert (learned.how, learned.scale, lines) == ("score", 1.0, [])
