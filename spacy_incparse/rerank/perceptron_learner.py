"""The averaged perceptron as a learner: a control for the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from spacy_incparse.rerank.data import RerankerWeights, RerankingData, best_candidates
from spacy_incparse.rerank.greedy_path import base_scores
from spacy_incparse.rerank.learner import Progress, check_rounds
from spacy_incparse.rerank.ranking_perceptron import RankingPerceptron
from spacy_incparse.settings import MOST_SEED, Settings, check_number


@dataclass(frozen=True, kw_only=True)
class RankPerceptronSettings(Settings):
    """Settings of the averaged perceptron.

    passes: over all lists. base_weight: the fixed weight of the base score, where an update changes a feature's weight
    by 1. seed: of the order of the lists, which differs from pass to pass.
    """

    passes: int = 10
    base_weight: float = 30.0
    seed: int = 0

    def __post_init__(self) -> None:
        check_number("passes", self.passes, 0, 100_000)
        check_number("base_weight", self.base_weight, 0, 1e6, is_whole=False)
        check_number("seed", self.seed, 0, MOST_SEED)


class RankPerceptronLearner:
    """Learns from lists whose best candidate does not stand first (Collins & Duffy 2002)."""

    name = "perceptron"

    def __init__(self, settings: RankPerceptronSettings | None = None):
        self.settings = settings or RankPerceptronSettings()

    @property
    def rounds(self) -> int:
        """The number of passes of `learn`."""
        return self.settings.passes

    def learn(self, data: RerankingData, progress: Progress | None = None) -> RerankerWeights:
        """Return the averaged weights after all passes."""
        return next(weights for _, weights in self.path(data, [self.rounds], progress))

    def path(
        self, data: RerankingData, rounds: Sequence[int], progress: Progress | None = None
    ) -> Iterator[tuple[int, RerankerWeights]]:
        """Yield the averaged weights after each number of passes, which must ascend."""
        check_rounds(rounds)
        scores = base_scores(data, self.settings.base_weight)
        perceptron = RankingPerceptron(data, self.settings.base_weight * data.scores[:, 0], best_candidates(data))
        random, order = Random(self.settings.seed), list(range(data.n_lists))
        for done in range(rounds[-1] + 1):
            if done in rounds:
                yield done, RerankerWeights(scores.copy(), perceptron.averaged())
            if done < rounds[-1]:
                random.shuffle(order)
                perceptron.learn(np.array(order, np.int64))
                if progress:
                    progress(done + 1, rounds[-1])
