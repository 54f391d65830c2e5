import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_incparse.evaluation.nbest import calibration

PAIRS = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=50)


def test_by_hand():
    found = calibration([0.72, 0.78, 0.95, 1.0, 0.1], [True, False, True, True, False])
    # bins: 0.7-0.8 (mean 0.75, half right), 0.9-1 (0.975, all right), 0.1-0.2 (0.1, none right)
    assert found.error == pytest.approx((2 * 0.25 + 2 * 0.025 + 0.1) / 5)
    assert (found.n, found.right, found.mean) == (5, pytest.approx(0.6), pytest.approx(0.71))
    assert [size for _, _, size in found.bins] == [1, 2, 2]


def test_nothing_to_measure():
    assert calibration([], []) is None


@given(PAIRS)
def test_bounds(pairs):
    found = calibration([p for p, _ in pairs], [right for _, right in pairs])
    assert 0 <= found.error <= 1
    assert abs(found.mean - found.right) <= found.error + 1e-9
    assert sum(size for _, _, size in found.bins) == found.n == len(pairs)
    assert found.to_dict()["error"] == found.error


@given(st.lists(st.booleans(), min_size=1))
def test_certainties_that_come_true(outcomes):
    assert calibration([float(outcome) for outcome in outcomes], outcomes).error == 0
