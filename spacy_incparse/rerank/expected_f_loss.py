"""Expected F as the objective, also called risk: how good the candidates are on average, not only the best one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from spacy_incparse.errors import ConfigError
from spacy_incparse.rerank.best_candidates import list_ids, sentence_f
from spacy_incparse.rerank.list_probabilities import list_means, list_probabilities
from spacy_incparse.rerank.prior_fit import FitSettings, Loss, PriorLearner
from spacy_incparse.rerank.reranking_data import RerankingData

Measure = Literal["corpus", "sentence"]


@dataclass(frozen=True, kw_only=True)
class RiskSettings(FitSettings):
    """Settings of the expected F.

    measure: "corpus", the F of the expected numbers of brackets over all sentences, which is what EVALB would give;
    "sentence", the mean of the sentences' expected F, weighted by the brackets of their gold trees.
    """

    measure: Measure = "corpus"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.measure not in get_args(Measure):
            raise ConfigError(f"measure is {self.measure!r}: choose from {', '.join(get_args(Measure))}")


class RiskLearner(PriorLearner):
    """Maximizes the expected F under a Gaussian prior (minimum risk: Smith & Eisner 2006)."""

    name = "risk"

    def __init__(self, settings: RiskSettings | None = None):
        self.settings: RiskSettings = settings or RiskSettings()

    def loss(self, data: RerankingData) -> Loss:
        """Return the loss of the settings."""
        return expected_f_loss(data, self.settings.measure)


def expected_f_loss(data: RerankingData, measure: Measure) -> Loss:
    """Return the function from F(x) of all candidates to (1 - expected F) times all gold brackets, and its gradient."""
    return _corpus_loss(data) if measure == "corpus" else _sentence_loss(data)


def _corpus_loss(data: RerankingData) -> Loss:
    """Expected F = 2 E[matched] / (gold + E[phrases]), sums over all sentences."""
    n_gold = float(data.n_gold.sum())

    def loss(values: np.ndarray) -> tuple[float, np.ndarray]:
        probabilities = list_probabilities(values, data.list_starts)
        n_both = n_gold + float((probabilities * data.n_phrases).sum())
        f = 2 * float((probabilities * data.n_matched).sum()) / max(n_both, 1)
        # dF / dP(x) = (2 matched(x) - F phrases(x)) / (gold + E[phrases])
        gains = n_gold * (2 * data.n_matched - f * data.n_phrases) / max(n_both, 1)
        return n_gold * (1 - f), -_by_value(gains, probabilities, data.list_starts)

    return loss


def _sentence_loss(data: RerankingData) -> Loss:
    """Sum over sentences of gold brackets times (1 - E[F])."""
    gains = sentence_f(data) * data.n_gold[list_ids(data)]
    n_gold = float(data.n_gold.sum())

    def loss(values: np.ndarray) -> tuple[float, np.ndarray]:
        probabilities = list_probabilities(values, data.list_starts)
        return n_gold - float((gains * probabilities).sum()), -_by_value(gains, probabilities, data.list_starts)

    return loss


def _by_value(gains: np.ndarray, probabilities: np.ndarray, list_starts: np.ndarray) -> np.ndarray:
    """Return d E[gain] / dF(x) = P(x) (gain(x) - E[gain] of x's list)."""
    return probabilities * (gains - list_means(gains, probabilities, list_starts))
