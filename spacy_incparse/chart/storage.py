"""Relative frequencies and pruners as plain data, for models."""

from __future__ import annotations

from typing import Any

import numpy as np
import srsly

from spacy_incparse.chart.boolean_pruner import BooleanPruner
from spacy_incparse.chart.grammar import Grammar, grammar_from_dict, grammar_to_dict
from spacy_incparse.chart.pcfg import Pcfg, WordModel
from spacy_incparse.chart.pcfg_pruner import Pruner
from spacy_incparse.chart.pruner import SpanClassifier
from spacy_incparse.chart.sentence import SpanPruner
from spacy_incparse.errors import ModelError
from spacy_incparse.linear.words import Lexicon


def words_to_dict(model: WordModel | None) -> dict[str, Any] | None:
    """Return the scores of words, without clusters."""
    if model is None:
        return None
    return {
        "lexicon": model.lexicon.to_dict(),
        "numbers": list(model.rows),
        "scores": model.scores[list(model.rows.values())].astype("<f8").tobytes(),
        "unseen": model.unseen.astype("<f8").tobytes(),
    }


def words_from_dict(data: dict[str, Any] | None, n_lexical: int) -> WordModel | None:
    """Undo `words_to_dict` for a grammar with so many lexical rules. Raises ModelError for anything else."""
    if data is None:
        return None
    scores = np.frombuffer(data["scores"], "<f8").reshape(len(data["numbers"]), n_lexical)
    unseen = np.frombuffer(data["unseen"], "<f8")
    if unseen.shape != (n_lexical,):
        raise ModelError(f"the model is damaged: it has scores of {len(unseen)} lexical rules, not of {n_lexical}")
    rows = {number: row for row, number in enumerate(data["numbers"])}
    return WordModel(Lexicon.from_dict(data["lexicon"]), rows, scores, unseen)


def pcfg_of(grammar: Grammar, words: dict[str, Any] | None) -> Pcfg:
    """Return the relative frequencies of a grammar with stored scores of words."""
    pcfg = Pcfg.estimate([], grammar)
    return Pcfg(grammar, pcfg.rules, pcfg.bare, words_from_dict(words, len(grammar.lexical)))


class StoredPruner(Pruner):
    """A pruner by the posteriors of a coarse grammar that can be stored."""

    def to_bytes(self) -> bytes:
        """Return the pruner as bytes, without the grammar of the charts."""
        content = {
            "grammar": grammar_to_dict(self.model.grammar),
            "words": words_to_dict(self.model.words),
            "thresholds": list(self.thresholds),
        }
        return srsly.msgpack_dumps(content)

    @classmethod
    def from_bytes(cls, data: bytes, fine: Grammar) -> StoredPruner:
        """Undo `to_bytes` for the grammar of the charts. Raises ModelError for a damaged grammar."""
        content = srsly.msgpack_loads(data)
        model = pcfg_of(grammar_from_dict(content["grammar"]), content["words"])
        return cls(model, fine, thresholds=tuple(map(float, content["thresholds"])))


def read_pruner(name: str, data: bytes, grammar: Grammar) -> SpanPruner:
    """Return the pruner of a kind (see `ChartConfig.pruner`) that `to_bytes` wrote. Raises ModelError for others."""
    if name == "spans":
        return SpanClassifier.from_bytes(data, grammar)
    return StoredPruner.from_bytes(data, grammar) if name == "pcfg" else BooleanPruner.from_bytes(data, grammar)
