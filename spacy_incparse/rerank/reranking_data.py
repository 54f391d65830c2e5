"""N-best lists as arrays, as the learners read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


class RerankerWeights(NamedTuple):
    """What a learner learns: F(x) = scores . base scores of x + sum of features over the features of x.

    scores: (n_scores,) float64. features: (n_features,) float64.
    """

    scores: np.ndarray
    features: np.ndarray


@dataclass(frozen=True)
class RerankingData:
    """The candidates of many sentences. All features are indicators; a count is several of them (>= 1, >= 2, ...).

    list_starts: (n_lists + 1,) int64, where the candidates of each list begin. feature_starts: (n_candidates + 1,)
    int64, where the features of each candidate begin. features: (n,) int32, the columns that are 1, ascending within a
    candidate; what all candidates of a list have is left out. scores: (n_candidates, n_scores) float64, real-valued
    features; column 0 is the base parser's score divided by its temperature. n_matched, n_phrases: (n_candidates,)
    int32, and n_gold: (n_lists,) int32, EVALB's counts of brackets: shared with the gold tree, in the candidate, in the
    gold tree. overlaps: for each list an (n, n) int32 array, the number of phrases that two candidates share (their own
    number on the diagonal).
    """

    list_starts: np.ndarray
    feature_starts: np.ndarray
    features: np.ndarray
    n_features: int
    scores: np.ndarray
    n_matched: np.ndarray
    n_phrases: np.ndarray
    n_gold: np.ndarray
    overlaps: tuple[np.ndarray, ...] = ()

    @property
    def n_lists(self) -> int:
        """The number of sentences."""
        return len(self.list_starts) - 1

    @property
    def n_candidates(self) -> int:
        """The number of candidates of all sentences."""
        return len(self.feature_starts) - 1
