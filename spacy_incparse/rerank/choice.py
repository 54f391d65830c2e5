"""Choose one candidate of each list by a model's values, and score the choice."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, get_args

import numpy as np

from spacy_incparse.errors import ConfigError
from spacy_incparse.evaluation.summaries import Agreement
from spacy_incparse.rerank.best_candidates import best_candidates
from spacy_incparse.rerank.list_probabilities import list_probabilities
from spacy_incparse.rerank.reranking_data import RerankingData
from spacy_incparse.settings import check_number

How = Literal["score", "expected_f"]


@dataclass(frozen=True)
class ChoiceRule:
    """How to choose a candidate by its value F(x).

    how: "score", the highest value; "expected_f", the highest expected F against all candidates of the list, where a
    candidate's probability is proportional to exp(scale F(x)) (Goodman 1996).
    """

    how: How = "score"
    scale: float = 1.0

    def __post_init__(self) -> None:
        if self.how not in get_args(How):
            raise ConfigError(f"how is {self.how!r}: choose from {', '.join(get_args(How))}")
        check_number("scale", self.scale, 1e-6, 1e6, is_whole=False)


def choose(data: RerankingData, values: np.ndarray, how: How = "score", scale: float = 1.0) -> np.ndarray:
    """Return the chosen candidate of each list as its index among all candidates, (n_lists,) int64.

    values: (n_candidates,) F(x), as from `candidate_values`. how, scale: see `ChoiceRule`. Ties go to the first.
    Raises ValueError if "expected_f" is asked for and the data has no overlaps.
    """
    rule = ChoiceRule(how, scale)
    if rule.how == "expected_f":
        values = _expected_f(data, list_probabilities(rule.scale * values, data.list_starts))
    chosen = [start + np.argmax(values[start:end]) for start, end in pairwise(data.list_starts)]
    return np.array(chosen, np.int64)


def expected_f(overlaps: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    """Return each candidate's expected F against its list: 2 sum_b p_b |a and b| / (|a| + sum_b p_b |b|).

    overlaps: (n, n), phrases that two candidates share. probabilities: (n,).
    """
    sizes = np.diagonal(overlaps)
    shared = (overlaps * probabilities).sum(axis=1)
    return 2 * shared / np.maximum(sizes + (sizes * probabilities).sum(), 1e-300)  # trees without phrases have 0


def agreement(data: RerankingData, chosen: np.ndarray) -> Agreement:
    """Return EVALB's counts of brackets, summed over the chosen candidates; its `f` is the corpus F, 0 to 1."""
    matched, phrases = data.n_matched[chosen].sum(), data.n_phrases[chosen].sum()
    return Agreement(int(matched), int(data.n_gold.sum()), int(phrases))


def corpus_f(data: RerankingData, chosen: np.ndarray) -> float:
    """Return the F of the chosen candidates over all sentences, 0 to 1."""
    return agreement(data, chosen).f


def oracle_f(data: RerankingData) -> float:
    """Return the F of the candidates with the highest F each."""
    return corpus_f(data, best_candidates(data))


def base_f(data: RerankingData) -> float:
    """Return the F of the candidates with the highest base score."""
    return corpus_f(data, choose(data, data.scores[:, 0]))


def _expected_f(data: RerankingData, probabilities: np.ndarray) -> np.ndarray:
    if len(data.overlaps) != data.n_lists:
        raise ValueError(f"expected F needs the overlaps of {data.n_lists} lists, not of {len(data.overlaps)}")
    parts = np.split(probabilities, data.list_starts[1:-1])
    return np.concatenate([expected_f(o, p) for o, p in zip(data.overlaps, parts, strict=True)])
