import numpy as np
import pytest

from spacy_incparse.rerank.data import first_candidates, select_features, select_lists
from tests.reference.rerank_learners import SlowLists
from tests.rerank.random_lists import random_data


def fields(lists, names=("features", "scores", "matched", "phrases", "gold")):
    return [[[getattr(candidate, name) for name in names] for candidate in candidates] for candidates in lists]


def test_lists_can_be_selected():
    data = random_data(0, n_scores=2)
    part, slow = select_lists(data, np.array([7, 2])), SlowLists(data).lists
    assert fields(SlowLists(part).lists) == fields([slow[7], slow[2]])
    assert (part.overlaps[1] == data.overlaps[2]).all()


@pytest.mark.parametrize("n", [1, 2, 4, 100])
def test_lists_can_be_shortened(n):
    data = random_data(1)
    part, slow = first_candidates(data, n), [candidates[:n] for candidates in SlowLists(data).lists]
    for candidates in slow:
        common = set.intersection(*(candidate.features for candidate in candidates))
        for candidate in candidates:
            candidate.features = candidate.features - common
    assert fields(SlowLists(part).lists) == fields(slow)
    assert [len(overlap) for overlap in part.overlaps] == [len(candidates) for candidates in slow]


def test_features_can_be_selected():
    data = random_data(2)
    is_kept = np.arange(data.n_features) % 3 == 0
    found, slow = SlowLists(select_features(data, is_kept)).lists, SlowLists(data).lists
    assert [[c.features for c in cs] for cs in found] == [
        [{k for k in c.features if k % 3 == 0} for c in cs] for cs in slow
    ]
