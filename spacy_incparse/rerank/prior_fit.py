"""Minimize a loss of the candidates' values plus a Gaussian prior on the weights."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from spacy_incparse.rerank.lbfgs import Objective, minimize
from spacy_incparse.rerank.list_probabilities import candidate_values
from spacy_incparse.rerank.rerank_learner import Progress, check_rounds
from spacy_incparse.rerank.reranking_data import RerankerWeights, RerankingData
from spacy_incparse.rerank.sparse_rows import column_sums
from spacy_incparse.settings import Settings, check_number

Loss = Callable[[np.ndarray], tuple[float, np.ndarray]]
"""From the values F(x) of all candidates, (n_candidates,), to the loss and its gradient by these values."""


@dataclass(frozen=True, kw_only=True)
class FitSettings(Settings):
    """Settings of a fit with a prior.

    sigma: the standard deviation of the prior on the features' weights, whose mean is 0; the smaller, the nearer to 0
    they stay. The weights of the scores have no prior. max_iterations: of L-BFGS. tolerance: the fit ends when an
    iteration lowers the objective by a smaller share of it.
    """

    sigma: float = 0.3
    max_iterations: int = 100
    tolerance: float = 1e-5

    def __post_init__(self) -> None:
        check_number("sigma", self.sigma, 1e-6, 1e6, is_whole=False)
        check_number("max_iterations", self.max_iterations, 1, 1_000_000)
        check_number("tolerance", self.tolerance, 0, 1, is_whole=False)


class PriorLearner(ABC):
    """A learner that minimizes a loss under the prior, to convergence."""

    settings: FitSettings

    @property
    def rounds(self) -> int:
        """The greatest number of iterations."""
        return self.settings.max_iterations

    @abstractmethod
    def loss(self, data: RerankingData) -> Loss:
        """Return the loss to minimize."""

    def learn(self, data: RerankingData, progress: Progress | None = None) -> RerankerWeights:
        """Return the weights of the minimum."""
        return fit(data, self.loss(data), self.settings, progress)

    def path(
        self, data: RerankingData, rounds: Sequence[int], progress: Progress | None = None
    ) -> Iterator[tuple[int, RerankerWeights]]:
        """Yield the weights of the minimum as those of the last number of rounds."""
        check_rounds(rounds)
        yield rounds[-1], self.learn(data, progress)


def fit(data: RerankingData, loss: Loss, settings: FitSettings, progress: Progress | None = None) -> RerankerWeights:
    """Return the weights that minimize the loss of F(x) plus sum of w^2 / (2 sigma^2) over the features' weights.

    The search starts from the base parser's ranking: weight 1 for its score, 0 for all else. Where the loss is not
    convex, the local minimum found from there is returned.
    """
    start = np.zeros(data.scores.shape[1] + data.n_features)
    start[0] = 1
    found = minimize(
        prior_objective(data, loss, settings.sigma),
        start,
        max_iterations=settings.max_iterations,
        tolerance=settings.tolerance,
        progress=progress,
    )
    return split_weights(data, found.x)


def prior_objective(data: RerankingData, loss: Loss, sigma: float) -> Objective:
    """Return the function to minimize, of all weights in one vector: of the scores, then of the features."""
    n_scores = data.scores.shape[1]

    def objective(x: np.ndarray) -> tuple[float, np.ndarray]:
        weights = split_weights(data, x)
        value, by_value = loss(candidate_values(data, weights))
        of_scores = (data.scores * by_value[:, np.newaxis]).sum(axis=0)
        of_features = column_sums(data.feature_starts, data.features, by_value, data.n_features)
        prior = x[n_scores:] / sigma**2
        value += 0.5 * float((prior * x[n_scores:]).sum())
        return value, np.concatenate([of_scores, of_features + prior])

    return objective


def split_weights(data: RerankingData, x: np.ndarray) -> RerankerWeights:
    """Return the weights of the scores and of the features in a vector of both."""
    n_scores = data.scores.shape[1]
    return RerankerWeights(x[:n_scores].copy(), x[n_scores:].copy())
