"""The kind of parser "generative": its training and storage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from spacy_incparse.generative.config import GenerativeConfig
from spacy_incparse.parsing.base import FinishedLearner
from spacy_incparse.parsing.parse import Tags
from spacy_incparse.parsing.parser import ConstituencyParser, Learner, ParserKind
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:  # compiled modules are only loaded when a parser is trained or read
    from spacy_incparse.linear.clusters import Clusters


class GenerativeKind(ParserKind):
    """The generative parser of Roark (2001): probabilities of trees and words."""

    name = "generative"
    part_name = "generative"
    config_type = GenerativeConfig
    recipes: ClassVar[Mapping[str, Mapping[str, Any]]] = {"generative": {"max_epochs": 1}}
    has_measures = True
    trains_in_one_pass = True

    def is_meant_by(self, settings: Mapping[str, Any]) -> bool:
        """Return whether the settings have "generative" as their features, or name conditioning sets."""
        return settings.get("features") == self.name or "sets" in settings

    def learner(
        self,
        trees: Sequence[Tree],
        tags: Sequence[Tags],
        config: GenerativeConfig,
        heads: HeadRules,
        clusters: Clusters | None,
    ) -> Learner:
        """Return a learner that has counted everything already."""
        from spacy_incparse.generative.parser import GenerativeParser

        return FinishedLearner(GenerativeParser.train(trees, config, heads))

    def read(self, data: bytes, clusters: Clusters | None) -> ConstituencyParser:
        """Return the parser that `to_bytes` wrote. Raises ModelError for anything else."""
        from spacy_incparse.generative.parser import GenerativeParser

        return GenerativeParser.from_bytes(data)


GENERATIVE = GenerativeKind()
