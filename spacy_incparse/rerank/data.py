"""N-best lists as arrays, as the learners read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from spacy_incparse.rerank.sparse_rows import row_sums


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


def list_ids(data: RerankingData) -> np.ndarray:
    """Return the number of the list that each candidate belongs to, (n_candidates,) int64."""
    return np.repeat(np.arange(data.n_lists), np.diff(data.list_starts))


def sentence_f(data: RerankingData) -> np.ndarray:
    """Return each candidate's F against its gold tree, 0 to 1, (n_candidates,) float64; 0 if there are no brackets."""
    n_both = data.n_gold[list_ids(data)] + data.n_phrases
    return 2.0 * data.n_matched / np.maximum(n_both, 1)


def best_candidates(data: RerankingData) -> np.ndarray:
    """Return the index of x_{i,1} of each list among all candidates, (n_lists,) int64 (Collins 2000, section 2.1).

    It has the highest F; of several, the highest base score (footnote 3); of several again, it is the first.
    """
    # lexsort is stable and sorts by its last key first, so the best of each list comes to the list's start.
    order = np.lexsort((-data.scores[:, 0], -sentence_f(data), list_ids(data)))
    return order[data.list_starts[:-1]]


def is_best(data: RerankingData) -> np.ndarray:
    """Return for each candidate whether its F is the highest in its list, (n_candidates,) bool; several may have it."""
    f = sentence_f(data)
    return f == np.repeat(np.maximum.reduceat(f, data.list_starts[:-1]), np.diff(data.list_starts))


def candidate_values(data: RerankingData, weights: RerankerWeights) -> np.ndarray:
    """Return the ranking function F(x) of Collins (2000, section 2.1), (n_candidates,) float64."""
    # Multiplied and summed without BLAS, whose result may depend on the number of threads.
    base = (data.scores * weights.scores).sum(axis=1)
    return base + row_sums(data.feature_starts, data.features, weights.features)


def list_probabilities(values: np.ndarray, list_starts: np.ndarray) -> np.ndarray:
    """Return P(x) = e^F(x) / sum of e^F over its list (section 2.2.1), (n_candidates,) float64."""
    first, sizes = list_starts[:-1], np.diff(list_starts)
    weights = np.exp(values - np.repeat(np.maximum.reduceat(values, first), sizes))
    return weights / np.repeat(np.add.reduceat(weights, first), sizes)


def list_means(values: np.ndarray, probabilities: np.ndarray, list_starts: np.ndarray) -> np.ndarray:
    """Return the expected value of each list's candidates, repeated for each of them, (n_candidates,) float64."""
    means = np.add.reduceat(values * probabilities, list_starts[:-1])
    return np.repeat(means, np.diff(list_starts))
