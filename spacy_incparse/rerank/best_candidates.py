"""The best candidate of each list by the gold tree, which the learners aim at."""

from __future__ import annotations

import numpy as np

from spacy_incparse.rerank.reranking_data import RerankingData


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
