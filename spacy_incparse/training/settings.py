"""Settings of training for all kinds of parsers: their defaults and checks."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spacy_incparse.errors import ConfigError
from spacy_incparse.linear.templates import NAMED_SETS
from spacy_incparse.parsing.catalogue import find_kind, kind_of, kinds
from spacy_incparse.parsing.parser import ParserKind
from spacy_incparse.settings import MOST, MOST_SEED, Settings, check_number
from spacy_incparse.training.loop import train_parser
from spacy_incparse.training.preparation import TrainedModel
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

TRAINING_DEFAULTS: dict[str, Any] = {
    "kind": "perceptron",  # or "generative", "chart", "combined" or another kind
    "features": None,  # a set, such as "rich" (a chart parser has others), or your own templates; None: the default
    "heads": None,  # "en", "any", the path of a table, or a table; None: depends on the language
    "seed": 0,  # for the order of sentences and the tagger; the same seed gives the same model, to the bit
    "n_folds": 10,  # for jackknifing, so that the parser is trained on tags like those it will get; 0: gold tags
    "tagger": {},  # settings of Tagger.train, for the parser's tagger and those of jackknifing
}
"""The settings of training with their defaults; the settings of the kind of parser may be given with them."""


def parser_config(settings: Mapping[str, Any]) -> Settings:
    """Return the parser's part of the settings. Raises ConfigError for an unknown setting."""
    kind = kind_of(settings)
    return kind.config(own_settings(settings, kind))


def own_settings(settings: Mapping[str, Any], kind: ParserKind, others: Sequence[str] = ()) -> dict[str, Any]:
    """Return those settings of training that belong to a kind of parser.

    Raises ConfigError for an unknown setting; the message lists `others` as settings, too.
    """
    own = kind.config_type.names()
    for name in settings:
        if name not in own and name not in TRAINING_DEFAULTS:
            known = sorted({*own, *TRAINING_DEFAULTS, *others})
            raise ConfigError(f"there is no setting {name!r} of training: the settings are {', '.join(known)}")
    given = {name: value for name, value in settings.items() if name in own}
    return given if given.get("features", "") is not None else {k: v for k, v in given.items() if k != "features"}


def check_training(settings: Mapping[str, Any], others: Sequence[str] = ()) -> None:
    """Raise ConfigError for settings of training that do not exist or have wrong values. No file is read.

    Missing settings have their defaults. The message about an unknown setting lists `others` as settings, too.
    """
    settings = TRAINING_DEFAULTS | dict(settings)
    kind, features = kind_of(settings), settings["features"]
    if features is not None and "features" not in kind.config_type.names():
        raise ConfigError(f"features is {features!r}: a {kind.name} parser has none, so leave this out")
    if isinstance(features, str) and features not in feature_names():
        raise ConfigError(f"unknown feature set {features!r}: choose one of {', '.join(feature_names())}")
    check_number("seed", settings["seed"], 0, MOST_SEED)
    check_number("n_folds", settings["n_folds"], 0, MOST)
    _check_heads(settings["heads"])
    if isinstance(settings["heads"], dict):
        HeadRules.from_dict(settings["heads"])
    if not isinstance(settings["tagger"], dict):
        raise ConfigError(f"tagger is {settings['tagger']!r}: it must be a dict of settings of the tagger")
    if settings["tagger"]:
        from spacy_incparse.tagging.tagger import check_settings  # may load compiled modules

        check_settings(settings["tagger"])
    kind.config(own_settings(settings, kind, others))


def head_rules(heads: str | Path | dict[str, Any] | None, lang: str) -> HeadRules:
    """Return the head rules that a config names: "en", "any", a table's path, a table, or None for the language's."""
    _check_heads(heads)
    if isinstance(heads, dict):
        return HeadRules.from_dict(heads)
    if heads is None:
        return HeadRules.from_name("en" if lang == "en" else "any")
    return HeadRules.find(heads)


def feature_names() -> tuple[str, ...]:
    """Return the names of sets of features that some kind of parser has."""
    return tuple(dict.fromkeys([*NAMED_SETS, *(name for kind in kinds().values() for name in kind.feature_sets)]))


def _check_heads(heads: Any) -> None:
    if not (heads is None or isinstance(heads, str | Path | dict)):
        raise ConfigError(f"heads is {heads!r}: it must be 'en', 'any', the path of a table, a table, or None")


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
        found = deque[TrainedModel](maxlen=1)
        train_parser(
            trees, [], kind=find_kind(self.kind), config=self.config, heads=self.heads, n_folds=self.n_tag_folds,
            tagger_settings=self.tagger_settings, max_epochs=self.n_passes, seed=self.seed,
            on_pass=lambda _, tagger, parser: found.append(TrainedModel(tagger, parser)),
        )  # fmt: skip
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
