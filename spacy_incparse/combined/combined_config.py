"""All settings of a combination of parsers: its members, and how their trees are combined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from spacy_incparse.errors import ConfigError
from spacy_incparse.features.templates import NAMED_SETS
from spacy_incparse.lexicon.clusters import MAX_WORDS
from spacy_incparse.parsers.catalogue import recipes
from spacy_incparse.parsers.protocol import ParserKind, TrainingNeeds
from spacy_incparse.parsers.requested_tags import common_request
from spacy_incparse.settings import MOST, Settings, check_number, check_range

PASSES = 10  # of members whose recipe does not say how many they need
MEMBERS: dict[str, dict[str, Any]] = {"accurate": {}, "chart": {}, "generative": {}}


@dataclass(frozen=True)
class Member:
    """A parser of a combination: its kind and configuration, how often it sees the trees, and how much it counts."""

    name: str
    kind: ParserKind
    config: Settings
    max_epochs: int
    weight: float
    temperature: float | None

    @property
    def needs(self) -> TrainingNeeds:
        """What its training needs."""
        return self.kind.needs(self.config)


@dataclass(frozen=True, kw_only=True)
class CombinedConfig(Settings):
    """Settings of a combination of parsers. The search settings can be changed after training.

    members: the parsers that are combined, by names of your choice, each with its settings: `recipe` (what
        `spacy-incparse train --config` may name; by default the name), `max_epochs` (passes; by default the recipe's),
        `weight` (how much its probabilities count; by default 1), `temperature` (turns its scores into probabilities
        until one is fitted on held-out trees; by default one that suits its kind), and the settings of its kind that
        differ from the recipe's.
    clusters: word clusters for the tagger and all members: a language code or a file; None: no clusters.
    cluster_words: number of the most frequent words that have clusters.
    threshold: the probability from which on a phrase is worth having; lower values give more phrases.
    list_size: number of trees of a member to which their probabilities are relative.
    """

    SEARCH = ("threshold", "list_size")
    INSTEAD: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("choose", "choose_from", "choose_temperature"),
        "a combination always returns the tree of the best expected F that can be made of its members' phrases, and "
        "`threshold` says from which probability on a phrase is worth having",
    ) | {"choose_threshold": "its name is `threshold`", "choose_trees": "its name is `list_size`"}

    members: Mapping[str, Mapping[str, Any]] = field(
        default_factory=lambda: {name: dict(settings) for name, settings in MEMBERS.items()}
    )
    clusters: str | None = None
    cluster_words: int = MAX_WORDS
    threshold: float = 0.45
    list_size: int = 50

    def __post_init__(self) -> None:
        check_range("threshold", self.threshold, 0, 0.99)
        check_number("list_size", self.list_size, 1, MOST)
        check_number("cluster_words", self.cluster_words, 1, MOST)
        if not (self.clusters is None or isinstance(self.clusters, str)):
            raise ConfigError(f"clusters is {self.clusters!r}: it must be a language's code or the path of a file")
        if not isinstance(self.members, Mapping) or not self.members:
            raise ConfigError(f"members is {self.members!r}: it must be a table with the settings of each member")
        intervals = {member.needs.gold_tag_interval for member in self.resolved} - {0}
        if len(intervals) > 1:
            raise ConfigError(f"members have different values of gold_tag_interval ({sorted(intervals)}): give one")

    @cached_property
    def resolved(self) -> tuple[Member, ...]:
        """The members with their checked configurations. Raises ConfigError for unknown recipes and settings."""
        return tuple(self._member(name, settings) for name, settings in self.members.items())

    @property
    def needs(self) -> TrainingNeeds:
        """What training all members needs."""
        needs = [member.needs for member in self.resolved]
        return TrainingNeeds(
            tag_request=common_request([one.tag_request for one in needs]),
            clusters=self.clusters,
            cluster_words=self.cluster_words,
            gold_tag_interval=max(one.gold_tag_interval for one in needs),
        )

    def _member(self, name: str, settings: Any) -> Member:
        if not isinstance(settings, Mapping):
            raise ConfigError(f"members.{name} is {settings!r}: it must be a table with settings")
        given = dict(settings)
        kind, recipe = _recipe(name, given.pop("recipe", name))
        max_epochs = given.pop("max_epochs", recipe.get("max_epochs", PASSES))
        weight, temperature = given.pop("weight", 1.0), given.pop("temperature", None)
        check_number(f"members.{name}.max_epochs", max_epochs, 1, MOST)
        check_range(f"members.{name}.weight", weight, 1e-6, 1e6)
        check_range(f"members.{name}.temperature", temperature, 0.01, 1e6, may_be_none=True)
        try:
            config = kind.config(self._shared(name, kind, given) | recipe["settings"] | given)
        except ConfigError as error:
            raise ConfigError(f"members.{name}: {error}") from None
        return Member(name, kind, config, 1 if kind.trains_in_one_pass else max_epochs, weight, temperature)

    def _shared(self, name: str, kind: ParserKind, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings that all members share, if a kind has them."""
        shared = {"clusters": self.clusters, "cluster_words": self.cluster_words}
        for setting in shared:
            if setting in given:
                raise ConfigError(f"{setting} is one setting of all members: give it beside them")
        return {key: value for key, value in shared.items() if key in kind.config_type.names()}


def _recipe(name: str, recipe: Any) -> tuple[ParserKind, dict[str, Any]]:
    """Return the kind that a recipe is for, and the recipe with all settings of parser and search as "settings"."""
    known = {one: found for one, found in recipes().items() if found[0].name != "combined"}
    if not isinstance(recipe, str) or recipe not in known:
        raise ConfigError(f"members.{name} has the recipe {recipe!r}: it must be one of {', '.join(known)}")
    kind, own = known[recipe]
    features = {"features": recipe} if recipe in NAMED_SETS else {}
    return kind, dict(own) | {"settings": features | dict(own.get("training", {})) | dict(own.get("search", {}))}
