"""The model that the factored dual trains: weights of explicit features, and fixed scores of words.

See Taskar et al. (2004), section 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import srsly

from spacy_incparse.chart.constituent_classifier import ConstituentClassifier
from spacy_incparse.chart.forest import Forest
from spacy_incparse.chart.grammar import Grammar
from spacy_incparse.chart.lexical_spans import LexicalSpans
from spacy_incparse.chart.pcfg import Pcfg
from spacy_incparse.chart.rule_scores import rule_scores
from spacy_incparse.chart.sentence import ChartSentence
from spacy_incparse.chart.span_predictions import SpanPredictor
from spacy_incparse.chart.sparse_features import FeatureNumbers
from spacy_incparse.chart.storage import pcfg_of, words_to_dict
from spacy_incparse.errors import ModelError


@dataclass(frozen=True)
class DualEdges:
    """Scores edges by the weights of their features and by log P(word | state).

    weights: float64 (len(reader.numbers),). pcfg: the generative grammar. predictor: for LEXICAL+AUX.
    """

    reader: LexicalSpans
    weights: np.ndarray
    pcfg: Pcfg
    predictor: SpanPredictor | None = None

    @classmethod
    def of_learned(
        cls, reader: LexicalSpans, weights: np.ndarray, pcfg: Pcfg, predictor: SpanPredictor | None
    ) -> DualEdges:
        """Return the model with these weights, without the features whose weight is 0."""
        first = reader.grammar.n_rules
        found = zip(reader.numbers.features, weights[first:].tolist(), strict=False)
        kept = {feature: weight for feature, weight in found if weight}
        closed = LexicalSpans(reader.grammar, with_words=reader.with_words, numbers=FeatureNumbers.closed(kept, first))
        return cls(closed, np.concatenate([weights[:first], list(kept.values())]), pcfg, predictor)

    @property
    def grammar(self) -> Grammar:
        """The grammar of the forests."""
        return self.reader.grammar

    def scores(self, sentence: ChartSentence, forest: Forest) -> np.ndarray:
        """Return the score of each edge: float64 (n_edges,)."""
        predictions = self.predictor.of(sentence, forest) if self.predictor else None
        learned = self.reader.read(forest, sentence.words, predictions).scores(self.weights)
        return learned + word_scores(self.pcfg, sentence.words, forest)

    def to_bytes(self) -> bytes:
        """Return the model as bytes, without its grammar, whose counts give the generative grammar."""
        return srsly.msgpack_dumps(
            {
                "with_words": self.reader.with_words,
                "features": list(self.reader.numbers.features),
                "weights": self.weights.astype("<f8").tobytes(),
                "words": words_to_dict(self.pcfg.words),
                "flat": self.predictor.flat.to_dict() if self.predictor else None,
            }
        )

    @classmethod
    def from_bytes(cls, data: bytes, grammar: Grammar) -> DualEdges:
        """Undo `to_bytes`. Raises ModelError for other bytes, or another grammar's."""
        try:
            content = srsly.msgpack_loads(data)
            numbers = FeatureNumbers.closed(map(tuple, content["features"]), grammar.n_rules)
            reader = LexicalSpans(grammar, with_words=bool(content["with_words"]), numbers=numbers)
            weights = np.frombuffer(content["weights"], "<f8")
            if len(weights) != len(numbers):
                raise ModelError(f"the model is damaged: it has {len(weights)} weights of {len(numbers)} features")
            pcfg = pcfg_of(grammar, content["words"])
            flat = content["flat"]
            predictor = SpanPredictor(pcfg, ConstituentClassifier.from_dict(flat)) if flat else None
            return cls(reader, weights, pcfg, predictor)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ModelError(f"the model is damaged: its features cannot be read ({error!r})") from error


def word_scores(pcfg: Pcfg, words: Sequence[str], forest: Forest) -> np.ndarray:
    """Return log P(word | state) at lexical edges, up to a constant of each word, and 0 at other rules."""
    grammar, lexical = pcfg.grammar, pcfg.words.of_sentence(words) if pcfg.words else None
    found = rule_scores(
        forest, np.zeros(grammar.n_rules), np.zeros(len(grammar.states)), grammar.first_lexical, lexical
    )
    return cast("np.ndarray", found)
