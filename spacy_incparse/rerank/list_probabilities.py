"""A model's values of the candidates, and the probabilities that they give them."""

from __future__ import annotations

import numpy as np

from spacy_incparse.rerank.reranking_data import RerankerWeights, RerankingData
from spacy_incparse.rerank.sparse_rows import row_sums


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
