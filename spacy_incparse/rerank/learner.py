"""Learners of the reranker's weights: their interface, and those that minimize a loss under a prior with L-BFGS."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import catalogue
import numpy as np

from spacy_incparse.errors import ConfigError
from spacy_incparse.rerank.data import (
    RerankerWeights,
    RerankingData,
    best_candidates,
    candidate_values,
    is_best,
    list_probabilities,
)
from spacy_incparse.rerank.sparse_rows import column_sums
from spacy_incparse.settings import Settings, check_choice, check_number

Objective = Callable[[np.ndarray], tuple[float, np.ndarray]]
"""From x, (n,) float64, to the function's value and gradient (n,)."""


@dataclass(frozen=True, kw_only=True)
class RerankLearner(Settings):
    """Learns the weights of a ranking function F from candidates whose F against the gold tree is known.

    Its fields are its settings. Another package can add learners as entry points of the group
    `spacy_incparse_rerank_learners`.
    """

    NAME: ClassVar[str]
    LENGTH: ClassVar[str]
    """The setting that says how long it goes on: its rounds, passes or iterations."""
    GRID: ClassVar[Mapping[str, Sequence[Any]]]
    """Values of settings that are tried in all combinations; the other settings have their defaults."""
    WEIGHS_SCORES: ClassVar[bool] = False
    """Whether it learns a weight for each score; else those of scores beside the parser's are 0."""

    @property
    def n_rounds(self) -> int:
        """The number of rounds, passes or iterations of `learn`."""
        return getattr(self, self.LENGTH)

    def learn(self, data: RerankingData) -> RerankerWeights:
        """Return the weights learnt from data."""
        return next(weights for _, weights in self.path(data, [self.n_rounds]))

    @abstractmethod
    def path(self, data: RerankingData, rounds: Sequence[int]) -> Iterator[tuple[int, RerankerWeights]]:
        """Yield the weights after each of the numbers of rounds, which must ascend, in one run.

        A learner that minimizes to convergence yields its only result, as of the last number of rounds.
        """


def find_learner(name: Any) -> type[RerankLearner]:
    """Return the learner of this name. Raises ConfigError if there is none."""
    if isinstance(name, str) and name in LEARNERS:
        return LEARNERS[name]
    if isinstance(name, str) and name in _registry:
        return _registry.get(name)
    raise ConfigError(f"loss is {name!r}: it must be one of {', '.join(learner_names())}")


def learner_names() -> list[str]:
    """Return the names of all learners, those of this module first."""
    return list(dict.fromkeys([*LEARNERS, *_registry.get_entry_points()]))


@dataclass(frozen=True, kw_only=True)
class PriorLearner(RerankLearner):
    """A learner that minimizes a loss under a Gaussian prior, to convergence.

    sigma: the standard deviation of the prior on the features' weights, whose mean is 0; the smaller, the nearer to 0
    they stay. The weights of the scores have no prior. max_iterations: of L-BFGS. tolerance: the fit ends when an
    iteration lowers the objective by a smaller share of it.
    """

    LENGTH, WEIGHS_SCORES = "max_iterations", True
    GRID: ClassVar[Mapping[str, Sequence[Any]]] = {"sigma": (0.03, 0.1, 0.3, 1.0, 3.0)}

    sigma: float = 0.3
    max_iterations: int = 100
    tolerance: float = 1e-5

    def __post_init__(self) -> None:
        check_number("sigma", self.sigma, 1e-6, 1e6, is_whole=False)
        check_number("max_iterations", self.max_iterations, 1, 1_000_000)
        check_number("tolerance", self.tolerance, 0, 1, is_whole=False)

    @abstractmethod
    def loss(self, data: RerankingData) -> Objective:
        """Return the function from the values F(x) of all candidates to the loss and its gradient by these values."""

    def path(self, data: RerankingData, rounds: Sequence[int]) -> Iterator[tuple[int, RerankerWeights]]:
        """Yield the weights of the minimum as those of the last number of rounds.

        The search starts from the base parser's ranking: weight 1 for its score, 0 for all else. Where the loss is not
        convex, the minimum is the local one found from there.
        """
        start = np.zeros(data.scores.shape[1] + data.n_features)
        start[0] = 1
        objective, most = self.objective(data), self.max_iterations
        found = minimize(objective, start, max_iterations=most, tolerance=self.tolerance)
        yield rounds[-1], split_weights(data, found.x)

    def objective(self, data: RerankingData) -> Objective:
        """Return the function to minimize, the loss of F(x) plus sum of w^2 / (2 sigma^2) over the features' weights.

        Its argument has all weights in one vector: of the scores, then of the features.
        """
        n_scores, loss = data.scores.shape[1], self.loss(data)

        def objective(x: np.ndarray) -> tuple[float, np.ndarray]:
            value, by_value = loss(candidate_values(data, split_weights(data, x)))
            of_scores = (data.scores * by_value[:, np.newaxis]).sum(axis=0)
            of_features = column_sums(data.feature_starts, data.features, by_value, data.n_features)
            prior = x[n_scores:] / self.sigma**2
            value += 0.5 * float((prior * x[n_scores:]).sum())
            return value, np.concatenate([of_scores, of_features + prior])

        return objective


def split_weights(data: RerankingData, x: np.ndarray) -> RerankerWeights:
    """Return the weights of the scores and of the features in a vector of both."""
    n_scores = data.scores.shape[1]
    return RerankerWeights(x[:n_scores].copy(), x[n_scores:].copy())


@dataclass(frozen=True, kw_only=True)
class RiskLearner(PriorLearner):
    """Maximizes the expected F (minimum risk: Smith & Eisner 2006).

    It is the F of the expected numbers of brackets over all sentences, which is what EVALB would give.
    """

    NAME = "risk"

    def loss(self, data: RerankingData) -> Objective:
        """Return the function from F(x) to (1 - expected F) times all gold brackets, and its gradient.

        Expected F = 2 E[matched] / (gold + E[phrases]), sums over all sentences.
        """
        n_gold, first, sizes = float(data.n_gold.sum()), data.list_starts[:-1], np.diff(data.list_starts)

        def loss(values: np.ndarray) -> tuple[float, np.ndarray]:
            probabilities = list_probabilities(values, data.list_starts)
            n_both = n_gold + float((probabilities * data.n_phrases).sum())
            f = 2 * float((probabilities * data.n_matched).sum()) / max(n_both, 1)
            # dF / dP(x) = (2 matched(x) - F phrases(x)) / (gold + E[phrases])
            gains = n_gold * (2 * data.n_matched - f * data.n_phrases) / max(n_both, 1)
            # d E[gain] / dF(x) = P(x) (gain(x) - E[gain] of x's list)
            means = np.repeat(np.add.reduceat(gains * probabilities, first), sizes)
            return n_gold * (1 - f), -(probabilities * (gains - means))

        return loss


@dataclass(frozen=True, kw_only=True)
class LogLearner(PriorLearner):
    """Maximizes the probability of each list's best candidate, or best candidates.

    target: "best", the probability of x_{i,1} (Collins 2000, equation 1); "shared", of all candidates with the highest
    F together (Charniak & Johnson 2005, section 4).
    """

    NAME = "log"
    GRID: ClassVar = {"target": ("shared", "best"), **PriorLearner.GRID}

    target: Literal["best", "shared"] = "shared"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("target", self.target, ("best", "shared"))

    def loss(self, data: RerankingData) -> Objective:
        """Return the function from F(x) to the sum over lists of -log P(target), and its gradient."""
        is_target = is_best(data)
        if self.target == "best":
            is_target = np.zeros(data.n_candidates, bool)
            is_target[best_candidates(data)] = True
        first, sizes = data.list_starts[:-1], np.diff(data.list_starts)

        def log_sums(values: np.ndarray) -> np.ndarray:
            most = np.maximum.reduceat(values, first)
            return most + np.log(np.add.reduceat(np.exp(values - np.repeat(most, sizes)), first))

        def loss(values: np.ndarray) -> tuple[float, np.ndarray]:
            targets = np.where(is_target, values, -np.inf)
            probabilities = list_probabilities(values, data.list_starts)
            # d(-log P(target)) / dF(x) = P(x) - P(x | target)
            gradient = probabilities - list_probabilities(targets, data.list_starts)
            return float((log_sums(values) - log_sums(targets)).sum()), gradient

        return loss


LEARNERS: dict[str, type[RerankLearner]] = {RiskLearner.NAME: RiskLearner, LogLearner.NAME: LogLearner}
_registry = catalogue.create("spacy_incparse", "rerank_learners", entry_points=True)

_N_STEPS = 8  # the last steps that stand for the curvature
_SUFFICIENT = 1e-4  # share of the decrease which the gradient promises that a step must bring (Armijo)
_FLATTER = 0.9  # share of the slope that may be left behind a step (Wolfe)
_MOST_TRIALS = 30  # of step lengths


class Minimum(NamedTuple):
    """Where a minimization ended: x, the function's value, and the number of iterations."""

    x: np.ndarray
    value: float
    n_iterations: int


def minimize(objective: Objective, start: np.ndarray, *, max_iterations: int = 100, tolerance: float = 1e-5) -> Minimum:
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
        step, change = new_x - x, new_gradient - gradient
        curvature = _dot(step, change)
        if curvature > 1e-10 * _dot(change, change):  # a step over a place that is not convex says nothing
            steps.append((step, change, 1 / curvature))
        gain, value = value - new_value, new_value
        x, gradient = new_x, new_gradient
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


def _dot(a: np.ndarray, b: np.ndarray) -> float:
    return float((a * b).sum())
