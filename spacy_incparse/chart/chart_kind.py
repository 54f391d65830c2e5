"""The kind of parser "chart": its recipes, training and storage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from spacy_incparse.chart.chart_config import ChartConfig
from spacy_incparse.parsers.parse import Tags
from spacy_incparse.parsers.protocol import ConstituencyParser, Learner, ParserKind, TagRequest, TrainingNeeds
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:  # compiled modules are only loaded when a parser is trained or read
    from spacy_incparse.lexicon.clusters import Clusters


class ChartKind(ParserKind):
    """Chart parsers with linear scores (Finkel et al. 2008; Taskar et al. 2004; Hall et al. 2014)."""

    name = "chart"
    part_name = "chart"
    config_type = ChartConfig
    recipes: ClassVar[Mapping[str, Mapping[str, Any]]] = {"chart": {}}

    def is_meant_by(self, settings: Mapping[str, Any]) -> bool:
        """Return False: only `kind` says so."""
        return False

    def needs(self, config: ChartConfig) -> TrainingNeeds:
        """Return what training with a configuration needs."""
        return TrainingNeeds(
            tag_request=TagRequest(config.n_tags, config.tag_margin) if config.n_tags else None,
            clusters=config.clusters,
            cluster_words=config.cluster_words,
            gold_tag_interval=config.gold_tag_interval,
        )

    def learner(
        self,
        trees: Sequence[Tree],
        tags: Sequence[Tags],
        config: ChartConfig,
        heads: HeadRules,
        clusters: Clusters | None,
    ) -> Learner:
        """Return a learner with the grammar and the pruners of the trees."""
        from spacy_incparse.chart.chart_learner import ChartLearner

        return ChartLearner(trees, tags, config, heads, clusters)

    def read(self, data: bytes, clusters: Clusters | None) -> ConstituencyParser:
        """Return the parser that `to_bytes` wrote. Raises ModelError for anything else."""
        from spacy_incparse.chart.chart_parser import ChartParser

        return ChartParser.from_bytes(data, clusters)


CHART = ChartKind()
