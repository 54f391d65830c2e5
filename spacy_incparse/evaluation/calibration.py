"""Calibration of probabilities: seven in ten predictions with probability 0.7 should be right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

N_BINS = 10


@dataclass(frozen=True)
class Calibration:
    """The expected calibration error (Naeini et al. 2015): the mean gap between probability and accuracy.

    Gaps are computed in bins of equal width and weighted by the size of the bins.
    """

    error: float
    mean: float  # of the probabilities
    right: float  # share of right predictions
    n: int
    bins: tuple[tuple[float, float, int], ...]  # of each non-empty bin: mean, share right, size

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as a JSON-serializable dict."""
        return {"error": self.error, "mean": self.mean, "right": self.right, "n": self.n, "bins": list(self.bins)}


def calibration(probabilities: Sequence[float], is_right: Sequence[bool]) -> Calibration | None:
    """Return how well probabilities from 0 to 1 match the outcomes, or None if there are none."""
    n = len(probabilities)
    if not n:
        return None
    by_bin: dict[int, list[int]] = {}
    for i, probability in enumerate(probabilities):
        by_bin.setdefault(min(int(probability * N_BINS), N_BINS - 1), []).append(i)
    bins = tuple(
        (sum(probabilities[i] for i in found) / len(found), sum(is_right[i] for i in found) / len(found), len(found))
        for _, found in sorted(by_bin.items())
    )
    error = sum(size / n * abs(mean - right) for mean, right, size in bins)
    return Calibration(error, sum(probabilities) / n, sum(is_right) / n, n, bins)
