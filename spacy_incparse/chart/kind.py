"""The kind of parser "chart": its recipes, training and storage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from spacy_incparse.chart.config import ChartConfig
from spacy_incparse.chart.templates import NAMED_SETS
from spacy_incparse.parsing.parse import Tags
from spacy_incparse.parsing.parser import ConstituencyParser, Learner, ParserKind, TagRequest, TrainingNeeds
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:  # compiled modules are only loaded when a parser is trained or read
    from spacy_incparse.linear.clusters import Clusters


_CHART: dict[str, Any] = {"training": {"softmax_margin": 1.0}, "max_epochs": 3}
# Finkel et al. (2008), section 5, for sentences of up to 15 words: words alone, ancestors in all labels, active states
# with their first child, the relaxed grammar, gradient descent with a prior (whose strength is ours) and steps that are
# halved after five passes, the exact prefilter, and the most probable tree.
_CRF: dict[str, Any] = {
    "training": {
        "features": "finkel", "vertical": 1, "annotate_tags": True, "head_tag_labels": ["VP"], "anchor": True,
        "n_tags": 0, "max_length": 15, "step": 0.1, "damping": 0.0, "step_halved_after": 5.0, "l2": 0.1,
        "batch_size": 15, "relaxed_rules": True, "pruner": "boolean",
    },
    "search": {"decoding": "viterbi"},
    "max_epochs": 20,
}  # fmt: skip
# Taskar et al. (2004), section 6: LEXICAL+AUX, by the factored dual, whole charts, and the most probable tree. States
# are categories alone: those of the paper's grammar are too many for small treebanks (docs/paper_to_code.md).
_MAX_MARGIN: dict[str, Any] = {
    "training": {
        "features": "taskar-lexical+aux", "learner": "dual", "loss": "binarized",
        "branching": "head", "n_tags": 0, "max_length": 15, "pruner": "boolean",
    },
    "search": {"decoding": "viterbi"},
    "max_epochs": 20,
}  # fmt: skip


class ChartKind(ParserKind):
    """Chart parsers with linear scores (Finkel et al. 2008; Taskar et al. 2004; Hall et al. 2014)."""

    name = "chart"
    part_name = "chart"
    config_type = ChartConfig
    recipes: ClassVar[Mapping[str, Mapping[str, Any]]] = {"chart": _CHART, "crf": _CRF, "max-margin": _MAX_MARGIN}
    feature_sets = tuple(NAMED_SETS)

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
        from spacy_incparse.chart.learner import ChartLearner

        return ChartLearner(trees, tags, config, heads, clusters)

    def read(self, data: bytes, clusters: Clusters | None) -> ConstituencyParser:
        """Return the parser that `to_bytes` wrote. Raises ModelError for anything else."""
        from spacy_incparse.chart.parser import ChartParser

        return ChartParser.from_bytes(data, clusters)


CHART = ChartKind()
