"""Log loss with a Gaussian prior: the probability of the best candidates (Johnson et al. 1999)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from spacy_incparse.errors import ConfigError
from spacy_incparse.rerank.best_candidates import best_candidates, is_best
from spacy_incparse.rerank.list_probabilities import list_probabilities
from spacy_incparse.rerank.prior_fit import FitSettings, Loss, PriorLearner
from spacy_incparse.rerank.reranking_data import RerankingData

Target = Literal["best", "shared"]


@dataclass(frozen=True, kw_only=True)
class LogSettings(FitSettings):
    """Settings of the log loss.

    target: "best", the probability of x_{i,1} (Collins 2000, equation 1); "shared", of all candidates with the highest
    F together (Charniak & Johnson 2005, section 4).
    """

    target: Target = "shared"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.target not in get_args(Target):
            raise ConfigError(f"target is {self.target!r}: choose from {', '.join(get_args(Target))}")


class LogLearner(PriorLearner):
    """Maximizes the probability of each list's best candidate, or best candidates, under a Gaussian prior."""

    name = "log"

    def __init__(self, settings: LogSettings | None = None):
        self.settings: LogSettings = settings or LogSettings()

    def loss(self, data: RerankingData) -> Loss:
        """Return the loss of the settings."""
        return log_loss(data, self.settings.target)


def log_loss(data: RerankingData, target: Target) -> Loss:
    """Return the function from F(x) of all candidates to sum over lists of -log P(target), and its gradient."""
    if target == "best":
        is_target = np.zeros(data.n_candidates, bool)
        is_target[best_candidates(data)] = True
    else:
        is_target = is_best(data)
    first, sizes = data.list_starts[:-1], np.diff(data.list_starts)

    def loss(values: np.ndarray) -> tuple[float, np.ndarray]:
        probabilities = list_probabilities(values, data.list_starts)
        targets = np.where(is_target, values, -np.inf)
        among_targets = list_probabilities(targets, data.list_starts)
        total = float((_log_sums(values, first, sizes) - _log_sums(targets, first, sizes)).sum())
        # d(-log P(target)) / dF(x) = P(x) - P(x | target)
        return total, probabilities - among_targets

    return loss


def _log_sums(values: np.ndarray, first: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return log(sum of e^F) of each list."""
    most = np.maximum.reduceat(values, first)
    return most + np.log(np.add.reduceat(np.exp(values - np.repeat(most, sizes)), first))
