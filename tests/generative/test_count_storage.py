import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_incparse import integer_arrays
from spacy_incparse.errors import ModelError
from spacy_incparse.generative.counts import NestedCounts, count

NAMES = ("above", "values", "n_outcomes", "outcomes", "counts")
ROWS = [[1, 5, 2, 7], [1, 5, 2, 7], [1, 5, 3, 7], [1, 6, 2, 7], [2, 5, 2, 1], [2, 5, 2, 0], [1, 5, 2, 3], [0, 0, 0, 0]]

tables = st.integers(1, 4).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, 3), min_size=n + 1, max_size=n + 1), min_size=1, max_size=60)
)


def arrays(counts):
    return tuple(getattr(counts, name) for name in NAMES)


@given(tables, st.integers(1, 3))
def test_counts_are_kept(rows, min_count):
    counts = count(np.array(rows))[0].without_rare(min_count)
    found = NestedCounts.from_dict(counts.to_dict())
    assert found.level_sizes == counts.level_sizes
    for array, expected in zip(arrays(found), arrays(counts), strict=True):
        assert array.dtype == expected.dtype == np.int32
        assert array.tolist() == expected.tolist()
    assert found.to_dict() == counts.to_dict()


def test_what_follows_from_the_context_above_is_not_stored():
    counts = count(np.array([[1, 2, 3, 4]] * 3 + [[1, 2, 3, 5]]))[0]
    stored = counts.to_dict()["arrays"]
    assert integer_arrays.unpack(stored["counts"], "i4", "the counts").tolist() == [2, 0, 2, 2]
    assert integer_arrays.unpack(stored["places"], "i4", "the counts").tolist() == [4, 0]


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("above", lambda numbers: numbers + 1, "contexts within none"),
        ("above", lambda numbers: numbers[:-1], "the counts hold"),
        ("first_values", lambda numbers: numbers[:-1], "the counts hold"),
        ("value_gaps", lambda numbers: [*numbers, 1], "the counts hold"),
        ("n_outcomes", lambda numbers: numbers[:-1], "there are not"),
        ("n_outcomes", lambda numbers: -1 - numbers, "there are not"),
        ("n_outcomes", lambda numbers: [*numbers[:2], 2**30, *numbers[3:]], "cannot hold"),
        ("places", lambda numbers: numbers + 1, "outcomes that the context above does not have"),
        ("places", lambda numbers: numbers[1:], "the counts hold"),
        ("counts", lambda numbers: numbers[:-1], "there are not"),
        ("counts", lambda numbers: -1 - numbers, "there are not"),
    ],
)
def test_damaged_counts_are_refused(name, change, message):
    counts = count(np.array(ROWS))[0]
    packed = counts.to_dict()["arrays"]
    numbers = integer_arrays.unpack(packed[name], "i4", "the counts")
    if name == "above":
        numbers = np.cumsum(numbers)
        damaged = integer_arrays.pack_gaps(np.array(change(numbers), np.int32))
    else:
        damaged = integer_arrays.pack(np.array(change(numbers), np.int32))
    with pytest.raises(ModelError, match=message):
        NestedCounts.from_dict({"level_sizes": counts.level_sizes, "arrays": packed | {name: damaged}})
