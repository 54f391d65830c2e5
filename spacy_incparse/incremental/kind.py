"""The kind of parser "perceptron": its recipes, training and storage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from spacy_incparse.errors import ConfigError
from spacy_incparse.incremental.config import ParserConfig
from spacy_incparse.linear.templates import NAMED_SETS
from spacy_incparse.parsing.parse import Tags
from spacy_incparse.parsing.parser import (
    ConstituencyParser,
    FineTuner,
    Learner,
    ParserKind,
    TagRequest,
    TrainingNeeds,
)
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:  # compiled modules are only loaded when a parser is trained or read
    from spacy_incparse.linear.clusters import Clusters

# With the paper's few features, scores are closer together, so a wider beam and more passes pay off. Its perceptron has
# no margin, and all its steps have the same size.
PAPER: dict[str, Any] = {
    "training": {"margin": 0.0, "step_decay": 0.0},
    "search": {"gamma": 1e6, "outcome_filter_min_share": 0.0},
    "max_epochs": 12,
}


class PerceptronKind(ParserKind):
    """The incremental perceptron parser of Collins & Roark (2004)."""

    name = "perceptron"
    part_name = "parser"
    config_type = ParserConfig
    recipes: ClassVar[Mapping[str, Mapping[str, Any]]] = {"paper": PAPER, "paper+punct": PAPER, "rich": {}}

    def is_meant_by(self, settings: Mapping[str, Any]) -> bool:
        """Return whether the settings have features, and no weight for a generative model."""
        features = settings.get("features") or "rich"
        has_features = not isinstance(features, str) or features in NAMED_SETS
        return has_features and not settings.get("train_generative_weight")

    def config(self, settings: Mapping[str, Any]) -> ParserConfig:
        """Return the checked configuration. Raises ConfigError for an unknown name or a wrong value."""
        config = ParserConfig.from_dict(dict(settings))
        if config.is_hybrid:
            raise ConfigError(
                f"train_generative_weight is {config.train_generative_weight!r}, but a perceptron has no generative "
                f"model: set kind to 'hybrid', or the weight to 0"
            )
        return config

    def needs(self, config: ParserConfig) -> TrainingNeeds:
        """Return what training with a configuration needs."""
        return TrainingNeeds(
            tag_request=TagRequest(config.n_tags, config.tag_margin),
            clusters=config.clusters,
            cluster_words=config.cluster_words,
            gold_tag_interval=config.gold_tag_interval,
        )

    def learner(
        self,
        trees: Sequence[Tree],
        tags: Sequence[Tags],
        config: ParserConfig,
        heads: HeadRules,
        clusters: Clusters | None,
    ) -> Learner:
        """Return a learner with the grammar and lexicon of the trees."""
        from spacy_incparse.incremental.learner import ParserLearner

        return ParserLearner.from_treebank(trees, tags, config, heads, clusters)

    def fine_tuner(self, parser: Any) -> FineTuner:
        """Return a learner that continues from the averaged weights of a parser."""
        from spacy_incparse.incremental.learner import ParserLearner

        return ParserLearner.from_parser(parser)

    def read(self, data: bytes, clusters: Clusters | None) -> ConstituencyParser:
        """Return the parser that `to_bytes` wrote. Raises ModelError for anything else."""
        from spacy_incparse.incremental.parser import PerceptronParser

        return PerceptronParser.from_bytes(data, clusters)


PERCEPTRON = PerceptronKind()
