"""Boosting, greedy log loss and the averaged perceptron as learners of a reranker's weights."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from spacy_incparse.papers.collins_2000.learning import Boosting, GreedyLogLoss, RankingPerceptron, pair_differences
from spacy_incparse.rerank.data import RerankerWeights, RerankingData, best_candidates, list_ids, sentence_f
from spacy_incparse.rerank.learner import RerankLearner
from spacy_incparse.settings import MOST_SEED, check_choice, check_number

LEAST_SMOOTHING = 1e-12  # without any, a feature that is never wrong would get an infinite weight
MOST_BASE_WEIGHT = 64.0
BISECTIONS = 60
INTERRUPTIBLE = 100  # rounds after which Ctrl-C is heard


@dataclass(frozen=True, kw_only=True)
class GreedyLearner(RerankLearner):
    """A learner that chooses one feature in each round, which may be the same again (section 2.3)."""

    LENGTH = "rounds"

    rounds: int

    @abstractmethod
    def start(self, data: RerankingData) -> tuple[float, Boosting | GreedyLogLoss]:
        """Return the base score's weight, which stays as it is, and the state of learning before the first round."""

    def path(self, data: RerankingData, rounds: Sequence[int]) -> Iterator[tuple[int, RerankerWeights]]:
        """Yield copies of the weights after each number of rounds, which must ascend."""
        (base_weight, learning), done = self.start(data), 0
        for wanted in rounds:
            while done < wanted:
                done += (n_rounds := min(INTERRUPTIBLE, wanted - done))
                learning.run(n_rounds)
            yield wanted, RerankerWeights(base_scores(data, base_weight), learning.weights.copy())


def base_scores(data: RerankingData, base_weight: float) -> np.ndarray:
    """Return weights of the scores (n_scores,): that of the base parser's score, and 0 for others."""
    scores = np.zeros(data.scores.shape[1])
    scores[0] = base_weight
    return scores


@dataclass(frozen=True, kw_only=True)
class BoostLearner(GreedyLearner):
    """Minimizes the exponential loss of pairs, feature by feature (Collins 2000, Collins & Koo 2005).

    rounds: how many times a feature is chosen. smoothing: epsilon; epsilon Z is added to both sums of a feature when
    its weight is calculated. pair_weights: "none", all pairs of a list's best candidate and another weigh the same
    (Collins 2000); "f", the difference of their F times the gold tree's brackets (Collins & Koo 2005). algorithm:
    "efficient" (table 2) or "naive" (table 1), which finds the same weights and is there to compare.
    """

    NAME = "boost"
    GRID: ClassVar = {"smoothing": (0.003, 0.01, 0.03), "pair_weights": ("none", "f")}

    rounds: int = 16_000
    smoothing: float = 0.03
    pair_weights: Literal["none", "f"] = "none"
    algorithm: Literal["efficient", "naive"] = "efficient"

    def __post_init__(self) -> None:
        check_number("rounds", self.rounds, 0, 10_000_000)
        check_number("smoothing", self.smoothing, LEAST_SMOOTHING, 1, is_whole=False)
        check_choice("pair_weights", self.pair_weights, ("none", "f"))
        check_choice("algorithm", self.algorithm, ("efficient", "naive"))

    def start(self, data: RerankingData) -> tuple[float, Boosting]:
        """Return the base score's weight, alpha_0, and boosting before its first round."""
        pairs = ranking_pairs(data)
        importances = pairs.f_differences if self.pair_weights == "f" else np.ones(len(pairs.base_margins))
        base_weight = best_base_weight(pairs.base_margins, importances)
        margins = base_weight * pairs.base_margins
        return base_weight, Boosting(pairs, margins, importances, self.smoothing, self.algorithm == "naive")


class RankingPairs(NamedTuple):
    """The pairs (x_{i,1}, x_{i,j}), j > 1, of all lists (section 2.1), in the order of their second candidates.

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
    """Return the pairs of all lists."""
    lists, best = list_ids(data), best_candidates(data)
    worse = np.setdiff1d(np.arange(data.n_candidates), best)
    better = best[lists[worse]]
    slot_starts, slots = pair_differences(data.feature_starts, data.features, better, worse)
    base, score = data.scores[:, 0], sentence_f(data) * data.n_gold[lists]
    return RankingPairs(slot_starts, slots, data.n_features, base[better] - base[worse], score[better] - score[worse])


def best_base_weight(base_margins: np.ndarray, importances: np.ndarray) -> float:
    """Return the alpha_0 that minimizes sum of S e^(-alpha_0 margin), within +-64, by bisection; 1 if all are equal.

    The loss is convex, so its minimum is where its derivative changes sign.
    """
    relevant = (base_margins != 0) & (importances > 0)
    margins, importances = base_margins[relevant], importances[relevant]
    if not len(margins):
        return 1.0
    low, high = -MOST_BASE_WEIGHT, MOST_BASE_WEIGHT
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        exponents = -middle * margins
        falls = (importances * margins * np.exp(exponents - exponents.max())).sum() > 0
        low, high = (middle, high) if falls else (low, middle)
    return (low + high) / 2


@dataclass(frozen=True, kw_only=True)
class GreedyLogLearner(GreedyLearner):
    """Minimizes the log loss of each list's best candidate, feature by feature; the base score's weight is 1.

    rounds: how many times a feature is chosen. smoothing: when a feature's weight is calculated, so many sentences more
    have it on the best of two equal candidates, and so many on the other; the paper leaves smoothing open. tolerance:
    iterative scaling ends when a weight changes by less, or after `max_scaling` iterations.
    """

    NAME = "log-greedy"
    GRID: ClassVar = {"smoothing": (0.3, 1.0, 3.0)}

    rounds: int = 400
    smoothing: float = 1.0
    tolerance: float = 1e-3
    max_scaling: int = 100

    def __post_init__(self) -> None:
        check_number("rounds", self.rounds, 0, 10_000_000)
        check_number("smoothing", self.smoothing, LEAST_SMOOTHING, 1e6, is_whole=False)
        check_number("tolerance", self.tolerance, 1e-12, 1, is_whole=False)
        check_number("max_scaling", self.max_scaling, 1, 1_000_000)

    def start(self, data: RerankingData) -> tuple[float, GreedyLogLoss]:
        """Return the base score's weight, and the minimization before its first round."""
        best = best_candidates(data)
        return 1.0, GreedyLogLoss(data, data.scores[:, 0], best, self.smoothing, self.tolerance, self.max_scaling)


@dataclass(frozen=True, kw_only=True)
class RankPerceptronLearner(RerankLearner):
    """Learns from lists whose best candidate does not stand first (Collins & Duffy 2002); a control for the others.

    passes: over all lists. base_weight: the fixed weight of the base score, where an update changes a feature's weight
    by 1. seed: of the order of the lists, which differs from pass to pass.
    """

    NAME, LENGTH = "perceptron", "passes"
    GRID: ClassVar = {"base_weight": (10.0, 30.0, 100.0)}

    passes: int = 10
    base_weight: float = 30.0
    seed: int = 0

    def __post_init__(self) -> None:
        check_number("passes", self.passes, 0, 100_000)
        check_number("base_weight", self.base_weight, 0, 1e6, is_whole=False)
        check_number("seed", self.seed, 0, MOST_SEED)

    def path(self, data: RerankingData, rounds: Sequence[int]) -> Iterator[tuple[int, RerankerWeights]]:
        """Yield the averaged weights after each number of passes, which must ascend."""
        perceptron = RankingPerceptron(data, self.base_weight * data.scores[:, 0], best_candidates(data))
        random, order = Random(self.seed), list(range(data.n_lists))
        for done in range(rounds[-1] + 1):
            if done in rounds:
                yield done, RerankerWeights(base_scores(data, self.base_weight), perceptron.averaged())
            if done < rounds[-1]:
                random.shuffle(order)
                perceptron.learn(np.array(order, np.int64))
