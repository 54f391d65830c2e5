"""How a parser is trained whose sentences are not at hand when it is described: for the folds of jackknifing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from spacy_incparse.parsers.catalogue import find_kind
from spacy_incparse.parsers.protocol import ConstituencyParser
from spacy_incparse.settings import Settings
from spacy_incparse.tagging.tagger import Tagger
from spacy_incparse.training.preparation import TrainedModel
from spacy_incparse.training.training_loop import train_parser
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree


@dataclass(frozen=True)
class ParserRecipe:
    """How the parsers of the folds are trained, and how they search: as the one that will be reranked.

    kind: its name. n_tag_folds: folds of the jackknifed tags. n_passes: how often a parser sees the sentences, since
    there is nothing to choose the best pass by. search: settings that differ from those of `config`.
    """

    kind: str
    config: Settings
    heads: HeadRules
    n_tag_folds: int = 10
    tagger_settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    n_passes: int = 10
    search: Mapping[str, Any] = field(default_factory=dict)

    def train(self, trees: Sequence[Tree]) -> TrainedModel:
        """Return a parser trained on normalized trees, and its tagger."""
        found: list[TrainedModel] = []

        def keep(_: object, tagger: Tagger | None, parser: ConstituencyParser) -> None:
            found[:] = [TrainedModel(tagger, parser)]

        train_parser(
            trees,
            [],
            kind=find_kind(self.kind),
            config=self.config,
            heads=self.heads,
            n_folds=self.n_tag_folds,
            tagger_settings=self.tagger_settings,
            max_epochs=self.n_passes,
            seed=self.seed,
            on_pass=keep,
        )
        return found[0]

    def contents(self) -> dict[str, Any]:
        """Return everything that the parsers depend on except the trees, as a JSON-serializable dict."""
        return {
            "kind": self.kind,
            "config": self.config.to_dict(),
            "heads": self.heads.to_dict(),
            "n_tag_folds": self.n_tag_folds,
            "tagger": dict(self.tagger_settings),
            "seed": self.seed,
            "n_passes": self.n_passes,
            "search": dict(self.search),
        }
