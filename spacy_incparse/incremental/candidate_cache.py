"""Repeated use of hypotheses (Collins & Roark 2004, section 4.1 and figure 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from spacy_incparse.incremental.config import ParserConfig
from spacy_incparse.incremental.early_update import Perceptron
from spacy_incparse.incremental.encoded_sentence import Sentence

Moves = tuple[list[int], list[int]]  # closings and leaves, word by word


class GoldMoves(NamedTuple):
    """A training sentence with the moves of its gold tree; a leaf of -1 means a chain that the grammar lacks."""

    sentence: Sentence
    n_closings: list[int]
    leaves: list[int]


@dataclass
class CachedSentence:
    """A sentence with candidates that once beat its gold tree, and the counter c_j of the updates that they caused."""

    gold: GoldMoves
    candidates: list[Moves]
    complete: bool
    n_updates: int = 0


class CandidateCache:
    """Candidates of up to `cache_size` past sentences, swept every `cache_interval` sentences."""

    def __init__(self, perceptron: Perceptron, config: ParserConfig):
        self.size = config.cache_size
        self._perceptron, self._config = perceptron, config
        self._entries: dict[str, CachedSentence] = {}
        self._n_since_sweep = 0

    def add(self, gold: GoldMoves, candidates: list[Moves], complete: bool) -> int:
        """Replace a sentence's older candidates by new ones, sweep if it is time, and return the number of updates.

        `complete`: the candidates are whole parses. If the gold tree was best, there are none to keep.
        """
        key = repr((gold.sentence.to_tuple(), gold.n_closings, gold.leaves))
        self._entries.pop(key, None)
        if candidates:
            self._entries[key] = CachedSentence(gold, candidates, complete)
            if len(self._entries) > self.size:
                del self._entries[next(iter(self._entries))]
        self._n_since_sweep += 1
        if self._n_since_sweep < self._config.cache_interval:
            return 0
        self._n_since_sweep = 0
        return self._sweep()

    def to_dict(self) -> dict[str, Any]:
        """Return the cache in a form suitable for msgpack."""
        entries = [
            [e.gold.sentence.to_tuple(), e.gold.n_closings, e.gold.leaves, e.candidates, e.complete, e.n_updates]
            for e in self._entries.values()
        ]
        return {"n_since_sweep": self._n_since_sweep, "keys": list(self._entries), "entries": entries}

    def from_dict(self, data: dict[str, Any]) -> None:
        """Restore what `to_dict` returned."""
        self._n_since_sweep = data["n_since_sweep"]
        self._entries = {
            key: CachedSentence(GoldMoves(Sentence(*sentence), n_closings, leaves), candidates, complete, n_updates)
            for key, (sentence, n_closings, leaves, candidates, complete, n_updates) in zip(
                data["keys"], data["entries"], strict=True
            )
        }

    def _sweep(self) -> int:
        """Make T1 rounds over the cache; each entry changes the weights at most T2 times (figure 4, step 2)."""
        n_updates = 0
        for _ in range(self._config.cache_t1):
            for entry in self._entries.values():
                if entry.n_updates < self._config.cache_t2 and self._relearn(entry):
                    entry.n_updates += 1
                    n_updates += 1
        return n_updates

    def _relearn(self, entry: CachedSentence) -> bool:
        gold = entry.gold
        return self._perceptron.relearn(gold.sentence, (gold.n_closings, gold.leaves), entry.candidates, entry.complete)
