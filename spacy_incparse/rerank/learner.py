"""The interface of all learners of the reranker's weights."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple, Protocol, get_args

import numpy as np

from spacy_incparse.errors import ConfigError
from spacy_incparse.rerank.data import (
    RerankerWeights,
    RerankingData,
    best_candidates,
    candidate_values,
    is_best,
    list_ids,
    list_means,
    list_probabilities,
    sentence_f,
)
from spacy_incparse.rerank.sparse_rows import column_sums
from spacy_incparse.settings import Settings, check_number

Progress = Callable[[int, int], None]
"""Called with the number of rounds done, and of all."""


class RerankLearner(Protocol):
    """Learns the weights of a ranking function F from candidates whose F against the gold tree is known."""

    @property
    def name(self) -> str:
        """The learner's name in `learners.LEARNERS`."""

    @property
    def settings(self) -> Settings:
        """The checked settings."""

    @property
    def rounds(self) -> int:
        """The number of rounds, passes or iterations of `learn`."""

    def learn(self, data: RerankingData, progress: Progress | None = None) -> RerankerWeights:
        """Return the weights learnt from data."""

    def path(
        self, data: RerankingData, rounds: Sequence[int], progress: Progress | None = None
    ) -> Iterator[tuple[int, RerankerWeights]]:
        """Yield the weights after each of the numbers of rounds, which must ascend, in one run.

        A learner that minimizes to convergence yields its only result, as of its last round.
        """


def check_rounds(rounds: Sequence[int]) -> None:
    """Raise ValueError unless numbers of rounds are at least 0 and ascend."""
    if not rounds or rounds[0] < 0 or any(a >= b for a, b in pairwise(rounds)):
        raise ValueError(f"the numbers of rounds must be at least 0 and ascend, not {list(rounds)}")


Measure = Literal["corpus", "sentence"]


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


Objective = Callable[[np.ndarray], tuple[float, np.ndarray]]
"""From x, (n,) float64, to the function's value and gradient (n,)."""

_N_STEPS = 8  # the last steps that stand for the curvature
_SUFFICIENT = 1e-4  # share of the decrease which the gradient promises that a step must bring (Armijo)
_FLATTER = 0.9  # share of the slope that may be left behind a step (Wolfe)
_MOST_TRIALS = 30  # of step lengths


class Minimum(NamedTuple):
    """Where a minimization ended: x, the function's value, and the number of iterations."""

    x: np.ndarray
    value: float
    n_iterations: int


def minimize(
    objective: Objective,
    start: np.ndarray,
    *,
    max_iterations: int = 100,
    tolerance: float = 1e-5,
    progress: Callable[[int, int], None] | None = None,
) -> Minimum:
    """Return a local minimum, or the best point after `max_iterations`.

    It has converged where an iteration lowers the value by less than tolerance, as a share of the value, or where no
    step along the search direction lowers it. Sums are numpy's own, not those of BLAS, which may differ with the number
    of threads: the same start gives the same bits.
    """
    x = np.array(start, float)
    value, gradient = objective(x)
    steps: deque[tuple[np.ndarray, np.ndarray, float]] = deque(maxlen=_N_STEPS)
    for done in range(max_iterations):
        found = _line_search(objective, x, value, gradient, _direction(gradient, steps), is_first=not steps)
        if found is None:
            return Minimum(x, value, done)
        new_x, new_value, new_gradient = found
        _remember(steps, new_x - x, new_gradient - gradient)
        gain, value = value - new_value, new_value
        x, gradient = new_x, new_gradient
        if progress:
            progress(done + 1, max_iterations)
        if gain <= tolerance * max(abs(value), 1e-12):
            return Minimum(x, value, done + 1)
    return Minimum(x, value, max_iterations)


def _direction(gradient: np.ndarray, steps: deque[tuple[np.ndarray, np.ndarray, float]]) -> np.ndarray:
    """Return -H gradient, H the inverse Hessian that the last steps suggest (algorithm 7.4, the two loops)."""
    q = -gradient
    alphas = []
    for step, change, rho in reversed(steps):
        alpha = rho * _dot(step, q)
        q = q - alpha * change
        alphas.append(alpha)
    if steps:
        _, change, rho = steps[-1]
        q = q / (rho * _dot(change, change))
    for (step, change, rho), alpha in zip(steps, reversed(alphas), strict=True):
        q = q + (alpha - rho * _dot(change, q)) * step
    return q


def _line_search(
    objective: Objective, x: np.ndarray, value: float, gradient: np.ndarray, direction: np.ndarray, *, is_first: bool
) -> tuple[np.ndarray, float, np.ndarray] | None:
    """Return the first point tried that meets the weak Wolfe conditions, by bisection; None if nothing is lower."""
    slope = _dot(gradient, direction)
    if slope >= 0:
        return None
    length = min(1.0, 1.0 / np.sqrt(_dot(gradient, gradient))) if is_first else 1.0
    low, high = 0.0, np.inf
    best = None
    for _ in range(_MOST_TRIALS):
        new_x = x + length * direction
        new_value, new_gradient = objective(new_x)
        if not new_value <= value + _SUFFICIENT * length * slope:  # "not", so that NaN is too far as well
            high = length
        else:
            best = (new_x, new_value, new_gradient)
            if _dot(new_gradient, direction) >= _FLATTER * slope:
                break
            low = length
        length = (low + high) / 2 if high < np.inf else 2 * low
    return best


def _remember(steps: deque[tuple[np.ndarray, np.ndarray, float]], step: np.ndarray, change: np.ndarray) -> None:
    """Keep a step and the change of the gradient if they show positive curvature."""
    curvature = _dot(step, change)
    if curvature > 1e-10 * _dot(change, change):
        steps.append((step, change, 1 / curvature))


def _dot(a: np.ndarray, b: np.ndarray) -> float:
    return float((a * b).sum())


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


Loss = Callable[[np.ndarray], tuple[float, np.ndarray]]
"""From the values F(x) of all candidates, (n_candidates,), to the loss and its gradient by these values."""


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
