"""Parts of reranking data: some of the lists, shorter lists, or some of the features."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from spacy_incparse.errors import ConfigError
from spacy_incparse.rerank.reranking_data import RerankingData
from spacy_incparse.rerank.sparse_rows import varies_in_list


def select_lists(data: RerankingData, lists: np.ndarray) -> RerankingData:
    """Return the data of some lists, given their numbers in the order wanted; columns stay the same."""
    sizes = np.diff(data.list_starts)[lists]
    rows = _ranges(data.list_starts[:-1][lists], sizes)
    overlaps = tuple(data.overlaps[number] for number in lists) if data.overlaps else ()
    return _of_rows(data, rows, sizes, data.n_gold[lists], overlaps)


def first_candidates(data: RerankingData, n: int) -> RerankingData:
    """Return the data of lists that end after n candidates. Raises ConfigError unless n is at least 1."""
    if n < 1:
        raise ConfigError(f"lists of {n} candidates cannot be reranked: n must be at least 1")
    sizes = np.minimum(np.diff(data.list_starts), n)
    rows = _ranges(data.list_starts[:-1], sizes)
    overlaps = tuple(overlap[:n, :n] for overlap in data.overlaps)
    shorter = _of_rows(data, rows, sizes, data.n_gold, overlaps)
    varies = varies_in_list(shorter.list_starts, shorter.feature_starts, shorter.features, data.n_features)
    return _of_places(shorter, varies)


def select_features(data: RerankingData, is_kept: np.ndarray) -> RerankingData:
    """Return the data without the other features' ones; columns keep their numbers. is_kept: (n_features,) bool."""
    return _of_places(data, is_kept[data.features])


def starts_of(sizes: Iterable[int] | np.ndarray) -> np.ndarray:
    """Return where parts of these sizes begin, and the end of the last, (n + 1,) int64."""
    return np.concatenate(([0], np.cumsum(np.fromiter(sizes, np.int64)))).astype(np.int64)


def _of_rows(
    data: RerankingData, rows: np.ndarray, sizes: np.ndarray, n_gold: np.ndarray, overlaps: tuple[np.ndarray, ...]
) -> RerankingData:
    """Return the data of candidates, in lists of these sizes."""
    n_features = np.diff(data.feature_starts)[rows]
    return RerankingData(
        list_starts=starts_of(sizes),
        feature_starts=starts_of(n_features),
        features=data.features[_ranges(data.feature_starts[:-1][rows], n_features)],
        n_features=data.n_features,
        scores=data.scores[rows],
        n_matched=data.n_matched[rows],
        n_phrases=data.n_phrases[rows],
        n_gold=n_gold,
        overlaps=overlaps,
    )


def _of_places(data: RerankingData, is_kept: np.ndarray) -> RerankingData:
    """Return the data with those entries of `features` that are kept."""
    rows = np.repeat(np.arange(data.n_candidates), np.diff(data.feature_starts))
    n_features = np.bincount(rows[is_kept], minlength=data.n_candidates)
    return replace(data, feature_starts=starts_of(n_features), features=data.features[is_kept])


def _ranges(starts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the numbers start, start + 1, ..., start + size - 1 of all pairs, joined."""
    return np.repeat(starts - starts_of(sizes)[:-1], sizes) + np.arange(sizes.sum())
