import math
import random
import warnings

import pytest

from spacy_incparse.parsing.nbest import probabilities
from spacy_incparse.training.temperature import HIGHEST, LOWEST, best_temperature, fit_temperature


def drawn(temperature, n=4000, seed=1):
    """Sentences whose best tree is right with just the probability at this temperature."""
    generator = random.Random(seed)
    scores = [[0.0, *sorted((-generator.uniform(0, 100) for _ in range(5)), reverse=True)] for _ in range(n)]
    return scores, [generator.random() < probabilities(row, temperature)[0] for row in scores]


@pytest.mark.parametrize("temperature", [3.0, 20.0, 60.0])
def test_it_is_found_again(temperature):
    scores, is_right = drawn(temperature)
    assert best_temperature(scores, is_right) == pytest.approx(temperature, rel=0.1)


def test_an_answer_may_score_less_than_others():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mostly_wrong = best_temperature([[0.0, 2000.0, -3.0]] * 8, [False] * 7 + [True])
    assert 1 / (1 + math.exp(2000 / mostly_wrong) + math.exp(-3 / mostly_wrong)) == pytest.approx(1 / 8, abs=0.02)
    for is_right in (False, True):
        assert LOWEST <= best_temperature([[1.0, 0.0]], [is_right]) <= HIGHEST
    assert LOWEST <= best_temperature([[1.0], [2.0]], [True, False]) <= HIGHEST


def test_without_trees_there_is_none():
    assert fit_temperature(None, [], []) is None
