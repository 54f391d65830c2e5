"""The kind of parser "hybrid": its recipes, training and storage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from spacy_incparse.errors import ConfigError
from spacy_incparse.parsers.parse import Tags
from spacy_incparse.parsers.protocol import ConstituencyParser, FineTuner, Learner, ParserKind
from spacy_incparse.perceptron.perceptron_config import ParserConfig
from spacy_incparse.perceptron.perceptron_kind import PAPER, PerceptronKind
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:  # compiled modules are only loaded when a parser is trained or read
    from spacy_incparse.lexicon.clusters import Clusters

_ACCURATE: dict[str, Any] = {
    "training": {"features": "accurate", "n_models": 2, "n_tags": 3, "train_generative_weight": 5.0},
    "search": {"generative_weight": 24.0, "outcome_filter_min_share": 0.002},
    "max_epochs": 6,
}
# Scores that include a log probability are further apart, and the best tree often scores far below others for a while.
_HYBRID: dict[str, Any] = {
    "training": PAPER["training"] | {"features": "paper+punct", "train_generative_weight": 10.0},
    "search": PAPER["search"] | {"generative_weight": 22.0, "gamma": 1e7, "beam_size": 400},
    "max_epochs": 6,
}


class HybridKind(PerceptronKind):
    """A perceptron with the log probability of a generative model as one more feature (section 5)."""

    name = "hybrid"
    part_name = "hybrid"
    recipes: ClassVar[Mapping[str, Mapping[str, Any]]] = {"accurate": _ACCURATE, "hybrid": _HYBRID}

    def is_meant_by(self, settings: Mapping[str, Any]) -> bool:
        """Return whether the settings give a generative model a weight."""
        return bool(settings.get("train_generative_weight"))

    def config(self, settings: Mapping[str, Any]) -> ParserConfig:
        """Return the checked configuration. Raises ConfigError for an unknown name or a wrong value."""
        config = ParserConfig.from_dict(dict(settings))
        if not config.is_hybrid:
            raise ConfigError(
                "train_generative_weight is 0, but a hybrid needs a weight above 0 for its generative model: set it, "
                "or set kind to 'perceptron'"
            )
        return config

    def check_search(self, settings: Mapping[str, Any]) -> None:
        """Raise ConfigError for settings that are not settings of its search, or have wrong values."""
        ParserConfig(train_generative_weight=1.0).with_search(**settings)

    def learner(
        self,
        trees: Sequence[Tree],
        tags: Sequence[Tags],
        config: ParserConfig,
        heads: HeadRules,
        clusters: Clusters | None,
    ) -> Learner:
        """Return a learner with the grammar, lexicon and generative models of the trees."""
        from spacy_incparse.hybrid.hybrid_parser import HybridModel
        from spacy_incparse.perceptron.learner import ParserLearner, treebank_model

        model = treebank_model(trees, tags, config, heads, clusters)
        return ParserLearner(HybridModel.train(model, trees, config), config)

    def fine_tuner(self, parser: Any) -> FineTuner:
        """Raise IncparseError: the generative model has already counted its treebank, and shares its grammar."""
        return ParserKind.fine_tuner(self, parser)

    def read(self, data: bytes, clusters: Clusters | None) -> ConstituencyParser:
        """Return the parser that `to_bytes` wrote. Raises ModelError for anything else."""
        from spacy_incparse.hybrid.hybrid_parser import HybridParser

        return HybridParser.from_bytes(data, clusters)


HYBRID = HybridKind()
