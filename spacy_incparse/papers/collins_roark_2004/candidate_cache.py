"""Repeated use of hypotheses (Collins & Roark 2004, section 4.1 and figure 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spacy_incparse.incremental.config import ParserConfig
from spacy_incparse.incremental.learner import GoldMoves, ParserLearner, WeightLearner
from spacy_incparse.incremental.sentence import Sentence

Moves = tuple[list[int], list[int]]  # closings and leaves, word by word


@dataclass(frozen=True, kw_only=True)
class RepeatedUseConfig(ParserConfig):
    """Settings of a parser that learns again from the hypotheses of earlier sentences, see `reuse_hypotheses`.

    cache_size: number of sentences whose hypotheses are used again.
    cache_candidates: number of hypotheses to keep for each of them.
    cache_interval: number of sentences between two sweeps over the cache.
    cache_t1: number of rounds in a sweep.
    cache_t2: maximum number of times that a sentence may change the weights.
    """

    cache_size: int = 100
    cache_candidates: int = 10
    cache_interval: int = 100
    cache_t1: int = 5
    cache_t2: int = 50


def reuse_hypotheses(learner: ParserLearner, config: RepeatedUseConfig) -> ParserLearner:
    """Let a learner that has not learned yet make repeated use of hypotheses, and return it."""
    learner.models = [CandidateCache(model, config) for model in learner.models]
    return learner


@dataclass
class CachedSentence:
    """A sentence with candidates that once beat its gold tree, and the counter c_j of the updates that they caused."""

    gold: GoldMoves
    candidates: list[Moves]
    complete: bool
    n_updates: int = 0


class CandidateCache(WeightLearner):
    """A learner with candidates of up to `cache_size` past sentences, swept every `cache_interval` sentences."""

    def __init__(self, plain: WeightLearner, config: RepeatedUseConfig):
        self.weights, self.perceptron, self._config = plain.weights, plain.perceptron, config
        self._entries: dict[str, CachedSentence] = {}
        self._n_since_sweep = 0

    def learn(self, example: GoldMoves) -> int:
        """Learn from a sentence, and from earlier ones if it is time, and return the number of updates."""
        updated, candidates, complete = self.perceptron.learn(*example, self._config.cache_candidates)
        return int(updated) + self.add(example, candidates, complete)

    def add(self, gold: GoldMoves, candidates: list[Moves], complete: bool) -> int:
        """Replace a sentence's older candidates by new ones, sweep if it is time, and return the number of updates.

        `complete`: the candidates are whole parses. If the gold tree was best, there are none to keep.
        """
        key = repr((gold.sentence.to_tuple(), gold.n_closings, gold.leaves))
        self._entries.pop(key, None)
        if candidates:
            self._entries[key] = CachedSentence(gold, candidates, complete)
            if len(self._entries) > self._config.cache_size:
                del self._entries[next(iter(self._entries))]
        self._n_since_sweep += 1
        if self._n_since_sweep < self._config.cache_interval:
            return 0
        self._n_since_sweep = n_updates = 0
        # T1 rounds over the cache; each entry changes the weights at most T2 times (figure 4, step 2).
        for _ in range(self._config.cache_t1):
            for entry in self._entries.values():
                sentence, *moves = entry.gold
                if entry.n_updates < self._config.cache_t2 and self.perceptron.relearn(
                    sentence, tuple(moves), entry.candidates, entry.complete
                ):
                    entry.n_updates += 1
                    n_updates += 1
        return n_updates

    def to_dict(self) -> dict[str, Any]:
        """Return everything that learning changes, in a form suitable for msgpack."""
        entries = [
            [e.gold.sentence.to_tuple(), e.gold.n_closings, e.gold.leaves, e.candidates, e.complete, e.n_updates]
            for e in self._entries.values()
        ]
        cache = {"n_since_sweep": self._n_since_sweep, "keys": list(self._entries), "entries": entries}
        return super().to_dict() | {"cache": cache}

    def from_dict(self, state: dict[str, Any]) -> None:
        """Restore what `to_dict` returned."""
        super().from_dict(state)
        cache = state["cache"]
        self._n_since_sweep = cache["n_since_sweep"]
        self._entries = {
            key: CachedSentence(GoldMoves(Sentence(*sentence), n_closings, leaves), *others)
            for key, (sentence, n_closings, leaves, *others) in zip(cache["keys"], cache["entries"], strict=True)
        }
