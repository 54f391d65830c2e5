"""The columns of features: which are selected, how they are stored and looked up."""

import numpy as np
import pytest

from spacy_incparse.rerank import features as feature_columns
from spacy_incparse.rerank.features import FeatureColumns


def lists_of(*lists):
    """Return (starts, keys) for lists of sets of keys, one set a tree."""
    for trees in lists:
        starts = np.cumsum([0, *map(len, trees)])
        yield starts, np.array([key for keys in trees for key in sorted(keys)], np.uint64)


@pytest.mark.parametrize("pending", [1, 3, 1_000])
def test_features_need_enough_lists_and_to_vary_in_one(monkeypatch, pending):
    monkeypatch.setattr(feature_columns, "_PENDING", pending)
    lists = [
        [{1, 2, 3}, {1, 2}],  # 3 varies
        [{1, 2, 3, 4}, {1, 3, 4}],  # 2 varies
        [{1, 3, 4}, {1, 3, 4}],
        [{2**64 - 1}, {7}],
    ]
    assert FeatureColumns.select(lists_of(*lists), 2).keys.tolist() == [2, 3]
    assert FeatureColumns.select(lists_of(*lists), 3).keys.tolist() == [3]
    assert FeatureColumns.select(lists_of(*lists), 1).keys.tolist() == [2, 3, 7, 2**64 - 1]
    assert len(FeatureColumns.select(lists_of(), 1)) == 0


def test_a_subset_of_columns_is_renumbered():
    columns = FeatureColumns(np.array([3, 5, 2**63], np.uint64))
    assert columns.subset(np.array([0, 2])).keys.tolist() == [3, 2**63]
    assert len(columns) == 3
