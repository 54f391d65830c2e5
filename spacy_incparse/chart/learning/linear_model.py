"""A linear model of edges: the weights of templates' features."""

from __future__ import annotations

from typing import cast

import numpy as np
import srsly

from spacy_incparse.chart.chart_sentence import ChartSentence
from spacy_incparse.chart.features.edge_features import EdgeFeatures
from spacy_incparse.chart.features.edge_templates import parse_key
from spacy_incparse.chart.forests.forest import Forest
from spacy_incparse.chart.grammar.grammar import Grammar
from spacy_incparse.errors import ConfigError, ModelError, check_texts
from spacy_incparse.integer_arrays import pack, unpack
from spacy_incparse.lexicon.clusters import Clusters
from spacy_incparse.lexicon.words import Lexicon

SCALE = 256  # units in a weight of 1: finer ones change nothing, and take more bytes
LIMIT = 32767
MAX_BITS = 26


class LinearChartModel:
    """Scores the edges of forests with the weights of their features.

    weights: int16 (features.n_weights,), in units of 1 / SCALE. So sums are exact, and a model scores the same before
    it is stored, afterwards, and on every machine.
    """

    def __init__(self, features: EdgeFeatures, weights: np.ndarray):
        self.features, self.weights = features, weights

    @classmethod
    def rounded(cls, features: EdgeFeatures, weights: np.ndarray) -> LinearChartModel:
        """Return the model with these weights as whole units."""
        return cls(features, np.clip(np.rint(weights * SCALE), -LIMIT, LIMIT).astype(np.int16))

    @property
    def grammar(self) -> Grammar:
        """The grammar of the forests."""
        return self.features.grammar

    def scores(self, sentence: ChartSentence, forest: Forest) -> np.ndarray:
        """Return the score of each edge: float64 (n_edges,)."""
        return cast(np.ndarray, self.features.bind(sentence, forest).scores(self.weights, 1 / SCALE))

    def to_bytes(self) -> bytes:
        """Return the model as bytes, without its grammar and word clusters."""
        content = {
            "templates": [template.key for template in self.features.templates],
            "lexicon": self.features.lexicon.to_dict(),
            "table_bits": self.features.table_bits,
            "weights": pack(self.weights),
        }
        return cast(bytes, srsly.msgpack_dumps(content))

    @classmethod
    def from_bytes(cls, data: bytes, grammar: Grammar, clusters: Clusters | None = None) -> LinearChartModel:
        """Return the model in bytes from `to_bytes`. Raises ModelError for any other bytes."""
        try:
            content = srsly.msgpack_loads(data)
            bits = content["table_bits"]
            check_texts(content["templates"], "templates")
            if type(bits) is not int or not 1 <= bits <= MAX_BITS:
                raise ModelError(f"the model is damaged: its table has {bits!r} bits, not 1 to {MAX_BITS}")
            templates = [parse_key(key) for key in content["templates"]]
            lexicon = Lexicon.from_dict(content["lexicon"], clusters)
            features = EdgeFeatures(grammar, templates, lexicon, table_bits=bits)
            weights = unpack(content["weights"], "i2", "the weights", features.n_weights, old_order="high")
            return cls(features, weights)
        except (KeyError, TypeError, ValueError, AttributeError, ConfigError) as error:
            raise ModelError(f"the model is damaged: its features cannot be read ({error!r})") from error
