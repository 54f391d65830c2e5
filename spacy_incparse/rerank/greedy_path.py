"""The weights along the rounds of a learner that chooses one feature in each (Collins 2000, section 2.3)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from spacy_incparse.rerank.data import RerankerWeights, RerankingData
from spacy_incparse.rerank.learner import Progress, check_rounds

LEAST_SMOOTHING = 1e-12  # without any, a feature that is never wrong would get an infinite weight
_REPORT_EVERY = 100  # rounds


class GreedyLearning(Protocol):
    """The state of a learner between rounds."""

    weights: np.ndarray

    def run(self, n_rounds: int) -> int:
        """Do some rounds, fewer if no feature is left that helps; return how many."""


class GreedySettings(Protocol):
    """The settings that all learners of this kind have."""

    @property
    def rounds(self) -> int:
        """The number of rounds."""


class GreedyLearner(ABC):
    """A learner that improves by rounds."""

    settings: GreedySettings

    @property
    def rounds(self) -> int:
        """The number of rounds of `learn`."""
        return self.settings.rounds

    def learn(self, data: RerankingData, progress: Progress | None = None) -> RerankerWeights:
        """Return the weights after `rounds` rounds."""
        return next(weights for _, weights in self.path(data, [self.rounds], progress))

    @abstractmethod
    def path(
        self, data: RerankingData, rounds: Sequence[int], progress: Progress | None = None
    ) -> Iterator[tuple[int, RerankerWeights]]:
        """Yield the weights after each number of rounds, which must ascend."""


def greedy_path(
    learning: GreedyLearning, scores: np.ndarray, rounds: Sequence[int], progress: Progress | None
) -> Iterator[tuple[int, RerankerWeights]]:
    """Run on, and yield copies of the weights after each number of rounds, which must ascend.

    scores: the weights of the scores, which stay as they are.
    """
    check_rounds(rounds)
    done = 0
    for wanted in rounds:
        while done < wanted:
            n_rounds = min(_REPORT_EVERY, wanted - done)
            learning.run(n_rounds)
            done += n_rounds
            if progress:
                progress(done, rounds[-1])
        yield wanted, RerankerWeights(scores.copy(), learning.weights.copy())


def base_scores(data: RerankingData, base_weight: float) -> np.ndarray:
    """Return weights of the scores (n_scores,): that of the base parser's score, and 0 for others."""
    scores = np.zeros(data.scores.shape[1])
    scores[0] = base_weight
    return scores
