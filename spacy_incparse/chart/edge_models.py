"""The models that score edges, and how they are stored."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import srsly

from spacy_incparse.chart.crf import LinearChartModel
from spacy_incparse.chart.dual_edges import DualEdges
from spacy_incparse.chart.forest import Forest
from spacy_incparse.chart.grammar import Grammar
from spacy_incparse.chart.pcfg import Pcfg
from spacy_incparse.chart.sentence import ChartSentence, EdgeModel
from spacy_incparse.chart.storage import pcfg_of, words_to_dict
from spacy_incparse.linear.clusters import Clusters


@dataclass(frozen=True)
class PcfgEdges:
    """Relative frequencies as scores of edges; words count where they choose among tags."""

    pcfg: Pcfg

    @property
    def grammar(self) -> Grammar:
        """The grammar of the forests."""
        return self.pcfg.grammar

    def scores(self, sentence: ChartSentence, forest: Forest) -> np.ndarray:
        """Return the score of each edge: float64 (n_edges,)."""
        return self.pcfg.scores(forest, sentence.words)

    def to_bytes(self) -> bytes:
        """Return the model as bytes, without its grammar, whose counts say the rest."""
        return srsly.msgpack_dumps(words_to_dict(self.pcfg.words))


def read_edges(learner: str, data: bytes, grammar: Grammar, clusters: Clusters | None) -> EdgeModel:
    """Return the model that a learner learned and `to_bytes` wrote. Raises ModelError for other bytes."""
    if learner == "pcfg":
        return PcfgEdges(pcfg_of(grammar, srsly.msgpack_loads(data)))
    if learner == "dual":
        return DualEdges.from_bytes(data, grammar)
    return LinearChartModel.from_bytes(data, grammar, clusters)
