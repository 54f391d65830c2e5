"""Greedy log loss as a learner (Collins 2000, section 2.3.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spacy_incparse.rerank.data import RerankerWeights, RerankingData, best_candidates
from spacy_incparse.rerank.greedy_log_loss import GreedyLogLoss
from spacy_incparse.rerank.greedy_path import LEAST_SMOOTHING, GreedyLearner, base_scores, greedy_path
from spacy_incparse.rerank.learner import Progress
from spacy_incparse.settings import Settings, check_number


@dataclass(frozen=True, kw_only=True)
class GreedyLogSettings(Settings):
    """Settings of the greedy log loss.

    rounds: how many times a feature is chosen, which may be the same again. smoothing: when a feature's weight is
    calculated, so many sentences more have it on the best of two equal candidates, and so many on the other; the paper
    leaves smoothing open. tolerance: iterative scaling ends when a weight changes by less, or after `max_scaling`
    iterations.
    """

    rounds: int = 400
    smoothing: float = 1.0
    tolerance: float = 1e-3
    max_scaling: int = 100

    def __post_init__(self) -> None:
        check_number("rounds", self.rounds, 0, 10_000_000)
        check_number("smoothing", self.smoothing, LEAST_SMOOTHING, 1e6, is_whole=False)
        check_number("tolerance", self.tolerance, 1e-12, 1, is_whole=False)
        check_number("max_scaling", self.max_scaling, 1, 1_000_000)


class GreedyLogLearner(GreedyLearner):
    """Minimizes the log loss of each list's best candidate, feature by feature; the base score's weight is 1."""

    name = "log-greedy"

    def __init__(self, settings: GreedyLogSettings | None = None):
        self.settings: GreedyLogSettings = settings or GreedyLogSettings()

    def path(
        self, data: RerankingData, rounds: Sequence[int], progress: Progress | None = None
    ) -> Iterator[tuple[int, RerankerWeights]]:
        """Yield the weights after each number of rounds, which must ascend."""
        yield from greedy_path(self.start(data), base_scores(data, 1.0), rounds, progress)

    def start(self, data: RerankingData) -> GreedyLogLoss:
        """Return the minimization before its first round."""
        settings = self.settings
        return GreedyLogLoss(
            data, data.scores[:, 0], best_candidates(data), settings.smoothing, settings.tolerance, settings.max_scaling
        )
