"""Boosting as a learner: its settings, and the base score's weight (Collins 2000, section 2.3.1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from spacy_incparse.errors import ConfigError
from spacy_incparse.rerank.boosting import Boosting
from spacy_incparse.rerank.data import RerankerWeights, RerankingData
from spacy_incparse.rerank.greedy_path import LEAST_SMOOTHING, GreedyLearner, base_scores, greedy_path
from spacy_incparse.rerank.learner import Progress
from spacy_incparse.rerank.ranking_pairs import RankingPairs, ranking_pairs
from spacy_incparse.settings import Settings, check_number

PairWeights = Literal["none", "f"]
Algorithm = Literal["efficient", "naive"]
_MOST_BASE_WEIGHT = 64.0
_BISECTIONS = 60


@dataclass(frozen=True, kw_only=True)
class BoostSettings(Settings):
    """Settings of boosting.

    rounds: how many times a feature is chosen, which may be the same again. smoothing: epsilon; epsilon Z is added to
    both sums of a feature when its weight is calculated. pair_weights: "none", all pairs of a list's best candidate and
    another weigh the same (Collins 2000); "f", the difference of their F times the gold tree's brackets (Collins & Koo
    2005). algorithm: "efficient" (table 2) or "naive" (table 1), which finds the same weights and is there to compare.
    """

    rounds: int = 16_000
    smoothing: float = 0.03
    pair_weights: PairWeights = "none"
    algorithm: Algorithm = "efficient"

    def __post_init__(self) -> None:
        check_number("rounds", self.rounds, 0, 10_000_000)
        check_number("smoothing", self.smoothing, LEAST_SMOOTHING, 1, is_whole=False)
        for name, value, known in (
            ("pair_weights", self.pair_weights, get_args(PairWeights)),
            ("algorithm", self.algorithm, get_args(Algorithm)),
        ):
            if value not in known:
                raise ConfigError(f"{name} is {value!r}: choose from {', '.join(known)}")


class BoostLearner(GreedyLearner):
    """Minimizes the exponential loss of pairs, feature by feature (Collins 2000, Collins & Koo 2005)."""

    name = "boost"

    def __init__(self, settings: BoostSettings | None = None):
        self.settings: BoostSettings = settings or BoostSettings()

    def path(
        self, data: RerankingData, rounds: Sequence[int], progress: Progress | None = None
    ) -> Iterator[tuple[int, RerankerWeights]]:
        """Yield the weights after each number of rounds, which must ascend."""
        base_weight, boosting = self.start(data)
        yield from greedy_path(boosting, base_scores(data, base_weight), rounds, progress)

    def start(self, data: RerankingData) -> tuple[float, Boosting]:
        """Return the base score's weight, alpha_0, and boosting before its first round."""
        pairs = ranking_pairs(data)
        importances = self._importances(pairs)
        base_weight = best_base_weight(pairs.base_margins, importances)
        is_naive = self.settings.algorithm == "naive"
        margins = base_weight * pairs.base_margins
        return base_weight, Boosting(pairs, margins, importances, self.settings.smoothing, is_naive)

    def _importances(self, pairs: RankingPairs) -> np.ndarray:
        return pairs.f_differences if self.settings.pair_weights == "f" else np.ones(len(pairs.base_margins))


def best_base_weight(base_margins: np.ndarray, importances: np.ndarray) -> float:
    """Return the alpha_0 that minimizes sum of S e^(-alpha_0 margin), within +-64, by bisection; 1 if all are equal.

    The loss is convex, so its minimum is where its derivative changes sign.
    """
    relevant = (base_margins != 0) & (importances > 0)
    margins, importances = base_margins[relevant], importances[relevant]
    if not len(margins):
        return 1.0
    low, high = -_MOST_BASE_WEIGHT, _MOST_BASE_WEIGHT
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        exponents = -middle * margins
        falls = (importances * margins * np.exp(exponents - exponents.max())).sum() > 0
        low, high = (middle, high) if falls else (low, middle)
    return (low + high) / 2
