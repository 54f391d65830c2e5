"""Everything that a chart parser learns from a treebank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spacy_incparse.chart.chart_config import ChartConfig
from spacy_incparse.chart.chart_sentence import EdgeModel, SpanPruner
from spacy_incparse.chart.chart_storage import read_pruner
from spacy_incparse.chart.grammar.grammar import Grammar
from spacy_incparse.chart.grammar.grammar_storage import grammar_from_dict, grammar_to_dict
from spacy_incparse.chart.learning.edge_models import read_edges
from spacy_incparse.errors import ModelError, check_texts
from spacy_incparse.lexicon.clusters import Clusters
from spacy_incparse.trees.heads import HeadRules


@dataclass(frozen=True)
class ChartModel:
    """The parts of a trained chart parser.

    edges: scores the edges of charts. pruner: chooses what is in them. tags: those of training, most frequent first.
    """

    edges: EdgeModel
    pruner: SpanPruner
    heads: HeadRules
    tags: tuple[str, ...]
    clusters: Clusters | None = None

    @property
    def grammar(self) -> Grammar:
        """The grammar of the charts."""
        return self.edges.grammar

    def to_dict(self) -> dict[str, Any]:
        """Return the model in a form suitable for msgpack, without clusters."""
        return {
            "grammar": grammar_to_dict(self.grammar),
            "edges": self.edges.to_bytes(),
            "pruner": self.pruner.to_bytes(),
            "heads": self.heads.to_dict(),
            "tags": list(self.tags),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any], config: ChartConfig, clusters: Clusters | None) -> ChartModel:
        """Undo `to_dict`. Raises ModelError for what does not fit together."""
        grammar = grammar_from_dict(data["grammar"])
        check_texts(data["tags"], "tags")
        if set(data["tags"]) != set(grammar.tags):
            raise ModelError("the model is damaged: its grammar has other tags")
        return cls(
            edges=read_edges(config.learner, data["edges"], grammar, clusters),
            pruner=read_pruner(config.pruner, data["pruner"], grammar),
            heads=HeadRules.from_dict(data["heads"]),
            tags=tuple(data["tags"]),
            clusters=clusters,
        )
