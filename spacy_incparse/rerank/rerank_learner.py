"""The interface of all learners of the reranker's weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Protocol

from spacy_incparse.rerank.reranking_data import RerankerWeights, RerankingData
from spacy_incparse.settings import Settings

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
