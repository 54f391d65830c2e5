"""Pairs of each list's best candidate with each of the others, as boosting ranks them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spacy_incparse.rerank.data import RerankingData, best_candidates, list_ids, sentence_f
from spacy_incparse.rerank.pair_differences import pair_differences


@dataclass(frozen=True)
class RankingPairs:
    """The pairs (x_{i,1}, x_{i,j}), j > 1, of all lists (Collins 2000, section 2.1).

    slot_starts: (n_pairs + 1,) int64 and slots: (n,) int32, the features in which a pair differs: 2 k for k in B+,
    which only x_{i,1} has, 2 k + 1 for k in B-. base_margins: (n_pairs,) L(x_{i,1}) - L(x_{i,j}), of the base
    parser's scores. f_differences: (n_pairs,) Score(x_{i,1}) - Score(x_{i,j}), where Score is F times the gold tree's
    brackets (Collins & Koo 2005).
    """

    slot_starts: np.ndarray
    slots: np.ndarray
    n_features: int
    base_margins: np.ndarray
    f_differences: np.ndarray


def ranking_pairs(data: RerankingData) -> RankingPairs:
    """Return the pairs of all lists, in the order of their second candidates."""
    lists, best = list_ids(data), best_candidates(data)
    is_other = np.ones(data.n_candidates, bool)
    is_other[best] = False
    worse = np.flatnonzero(is_other)
    better = best[lists[worse]]
    slot_starts, slots = pair_differences(data.feature_starts, data.features, better, worse)
    base, score = data.scores[:, 0], sentence_f(data) * data.n_gold[lists]
    return RankingPairs(slot_starts, slots, data.n_features, base[better] - base[worse], score[better] - score[worse])
