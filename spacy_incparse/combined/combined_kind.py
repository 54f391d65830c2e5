"""The kind of parser "combined": its recipe, training and storage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from spacy_incparse.combined.combined_config import CombinedConfig
from spacy_incparse.parsers.parse import Tags
from spacy_incparse.parsers.protocol import ConstituencyParser, Learner, ParserKind, TrainingNeeds
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:  # compiled modules are only loaded when a parser is trained or read
    from spacy_incparse.lexicon.clusters import Clusters


class CombinedKind(ParserKind):
    """Parsers of several kinds that answer together."""

    name = "combined"
    part_name = "combined"
    config_type = CombinedConfig
    recipes: ClassVar[Mapping[str, Mapping[str, Any]]] = {"best": {"max_epochs": 6}}

    def is_meant_by(self, settings: Mapping[str, Any]) -> bool:
        """Return False: a combination is named."""
        return False

    def needs(self, config: CombinedConfig) -> TrainingNeeds:
        """Return what training all members needs."""
        return config.needs

    def learner(
        self,
        trees: Sequence[Tree],
        tags: Sequence[Tags],
        config: CombinedConfig,
        heads: HeadRules,
        clusters: Clusters | None,
    ) -> Learner:
        """Return a learner of all members, which learn side by side."""
        from spacy_incparse.combined.combined_learner import CombinedLearner

        return CombinedLearner(trees, tags, config, heads, clusters)

    def read(self, data: bytes, clusters: Clusters | None) -> ConstituencyParser:
        """Return the parser that `to_bytes` wrote. Raises ModelError for anything else."""
        from spacy_incparse.combined.combined_parser import CombinedParser

        return CombinedParser.from_bytes(data, clusters)


COMBINED = CombinedKind()
