"""The kind of parser "combined": parsers of several kinds that are trained and stored together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import srsly

from spacy_incparse.errors import ConfigError, ModelError, damaged
from spacy_incparse.linear.templates import NAMED_SETS
from spacy_incparse.linear.words import MAX_WORDS, Clusters
from spacy_incparse.parsing.catalogue import find_kind, recipes
from spacy_incparse.parsing.combination import CombiningParser, Voter
from spacy_incparse.parsing.parse import Input, Tags
from spacy_incparse.parsing.parser import (
    Learner,
    Parser,
    ParserKind,
    TagRequest,
    TrainingNeeds,
    common_request,
    packed_states,
    read_states,
    requested_tags,
    stored_temperature,
)
from spacy_incparse.settings import MOST, Settings, check_number, check_range
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

PASSES = 10  # of members whose recipe does not say how many they need
MEMBERS: dict[str, dict[str, Any]] = {"accurate": {}, "chart": {}, "generative": {}}


@dataclass(frozen=True)
class Member:
    """A parser of a combination: its kind and configuration, how often it sees the trees, and how much it counts."""

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

    members: the parsers that are combined, by names of your choice, each with its settings: `recipe` (by default the
        name), `max_epochs` (by default the recipe's), `weight` (how much its probabilities count; by default 1),
        `temperature` (until one is fitted on held-out trees), and settings of its kind that differ from the recipe's.
    clusters: word clusters for tagger and parsers: a language code or a file; None: none. The model stores what it
        needs. Named feature sets add features of them.
    cluster_words: number of the most frequent words that have clusters.
    threshold: the probability from which on a phrase is worth having; lower values give more phrases.
    list_size: number of trees of a member to which their probabilities are relative, if it does not know those of all.
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

    def _member(self, name: str, settings: Any) -> Member:
        if not isinstance(settings, Mapping):
            raise ConfigError(f"members.{name} is {settings!r}: it must be a table with settings")
        given = dict(settings)
        recipe = given.pop("recipe", name)
        known = {one: found for one, found in recipes().items() if found[0].name != "combined"}
        if not isinstance(recipe, str) or recipe not in known:
            raise ConfigError(f"members.{name} has the recipe {recipe!r}: it must be one of {', '.join(known)}")
        kind, own = known[recipe]
        max_epochs = given.pop("max_epochs", own.get("max_epochs", PASSES))
        weight, temperature = given.pop("weight", 1.0), given.pop("temperature", None)
        check_number(f"members.{name}.max_epochs", max_epochs, 1, MOST)
        check_range(f"members.{name}.weight", weight, 1e-6, 1e6)
        check_range(f"members.{name}.temperature", temperature, 0.01, 1e6, may_be_none=True)
        for setting in ("clusters", "cluster_words"):
            if setting in given:
                raise ConfigError(f"members.{name}: {setting} is one setting of all members: give it beside them")
        shared = {"clusters": self.clusters} if "clusters" in kind.config_type.names() else {}
        features = {"features": recipe} if recipe in NAMED_SETS else {}
        of_recipe = features | dict(own.get("training", {})) | dict(own.get("search", {}))
        try:
            config = kind.config(shared | of_recipe | given)
        except ConfigError as error:
            raise ConfigError(f"members.{name}: {error}") from None
        return Member(kind, config, 1 if kind.trains_in_one_pass else max_epochs, weight, temperature)


class CombinedParser(CombiningParser):
    """Parsers that were trained on the same treebank with the same tagger, and are stored together."""

    kind = "combined"

    def __init__(self, parsers: Sequence[Parser], config: CombinedConfig, temperature: float | None = None):
        """Create a combination; parsers: one for each member of the configuration, in the same order."""
        voters = [
            Voter(parser, member.weight, member.temperature, config.list_size)
            for member, parser in zip(config.resolved, parsers, strict=True)
        ]
        super().__init__(parsers, voters, config, temperature)

    @property
    def members(self) -> tuple[Parser, ...]:
        """The parsers that it combines."""
        return self._parsers

    @property
    def clusters(self) -> Clusters | None:
        """The word clusters that its members use."""
        return next((parser.clusters for parser in self._parsers if parser.clusters), None)

    @property
    def tag_request(self) -> TagRequest | None:
        """The tags from which each member gets those that it needs; None if all find their own."""
        return common_request([parser.tag_request for parser in self._parsers])

    def with_search(self, **settings: object) -> CombinedParser:
        """Return a parser with the same members and other search settings (threshold, list_size)."""
        return CombinedParser(self._parsers, self.config.with_search(**settings), self.temperature)

    def to_bytes(self, *, with_clusters: bool = True) -> bytes:
        """Return all members as bytes, with their clusters once, or without them if the tagger stores the same ones."""
        content: dict[str, Any] = {
            "config": self.config.to_dict(),
            "temperature": self.temperature,
            "members": [[parser.kind, parser.to_bytes(with_clusters=False)] for parser in self._parsers],
        }
        if self.clusters and with_clusters:
            content["clusters"] = self.clusters.to_bytes()
        return srsly.msgpack_dumps(content)

    @classmethod
    def from_bytes(cls, data: bytes, clusters: Clusters | None = None) -> CombinedParser:
        """Undo `to_bytes`; `clusters` are for a parser stored without them. Raises ModelError for anything else."""
        with damaged("these bytes are not a combination of parsers"):
            content = srsly.msgpack_loads(data)
            config = CombinedConfig.from_dict(content["config"])
            if "clusters" in content:
                clusters = Clusters.from_bytes(content["clusters"])
            temperature = stored_temperature(content)
            kinds = [member.kind.name for member in config.resolved]
            if [kind for kind, _ in content["members"]] != kinds:
                raise ValueError(f"its parsers are not of the kinds {', '.join(kinds)}")
            parsers = [find_kind(kind).read(part, clusters) for kind, part in content["members"]]
            return cls(parsers, config, temperature)

    def _inputs(self, words: Sequence[str], tags: Tags | None) -> tuple[Any, Sequence[Input]]:
        tags = [None] * len(words) if tags is None else tags
        key = list(tags), [voter.temperature for voter in self._members]
        return key, [(words, tags, ())] * len(self._members)


class _MemberLearner:
    """A member in training; after its own number of passes, it stops learning.

    rows: by the words of a training sentence, the tagger's tags for it.
    """

    def __init__(self, member: Member, learner: Learner, n_trees: int, rows: dict[tuple[str, ...], Tags]):
        self.learner, self._rows, self._needs = learner, rows, member.needs
        self.n_left = [member.max_epochs * n_trees] * learner.n_models
        self._encoded: dict[tuple[tuple[str, ...], Tree], object] = {}

    def encode(self, words: Sequence[str], tags: Tags, tree: Tree) -> object:
        """Return a sentence as the member learns from it, under the tags that it requests."""
        key = tuple(words), tree
        is_kept = not self._needs.gold_tag_interval and key[0] in self._rows
        if is_kept and key in self._encoded:
            return self._encoded[key]
        # If it never learns under gold tags, it has the tagger's, encoded once, whatever the others get.
        own_tags = requested_tags(self._rows[key[0]] if is_kept else tags, self._needs.tag_request)
        found = self.learner.encode(words, own_tags, tree)
        if is_kept:
            self._encoded[key] = found
        return found

    def learn(self, example: object, number: int) -> int:
        """Let a model learn from an example, unless it has finished its passes; return the number of updates."""
        if not self.n_left[number]:
            return 0
        self.n_left[number] -= 1
        return self.learner.learn(example, number)

    def state_to_bytes(self) -> bytes:
        """Return everything that learning changes: a line with what is left of the passes, and the learner's state."""
        return b"%b\n%b" % (srsly.json_dumps(self.n_left).encode(), self.learner.state_to_bytes())

    def state_from_bytes(self, data: bytes) -> None:
        """Restore what `state_to_bytes` returned."""
        line, _, state = data.partition(b"\n")
        n_left = srsly.json_loads(line)
        if len(n_left) != len(self.n_left):
            raise ModelError(f"the training state belongs to {_OTHER_MEMBERS}: start a new training")
        self.learner.state_from_bytes(state)
        self.n_left = n_left


_OTHER_MEMBERS = "other members"


class CombinedLearner:
    """A combination in training. In each pass, all members that have not finished theirs learn from all sentences."""

    def __init__(
        self,
        trees: Sequence[Tree],
        tags: Sequence[Tags],
        config: CombinedConfig,
        heads: HeadRules,
        clusters: Clusters | None = None,
    ):
        self._config = config
        self._members = []
        by_words = {tree.words: row for tree, row in zip(trees, tags, strict=True)}
        for member in config.resolved:
            rows = [requested_tags(row, member.needs.tag_request) for row in tags]
            learner = member.kind.learner(trees, rows, member.config, heads, clusters)
            self._members.append(_MemberLearner(member, learner, len(trees), by_words))
        # The models of all members are numbered through.
        self._models = [(k, number) for k, member in enumerate(self._members) for number in range(len(member.n_left))]
        self._parser: CombinedParser | None = None

    @property
    def n_models(self) -> int:
        """The number of models of all members."""
        return len(self._models)

    def encode(self, words: Sequence[str], tags: Tags, tree: Tree) -> list[object]:
        """Return a sentence as each member learns from it."""
        return [member.encode(words, tags, tree) for member in self._members]

    def learn(self, example: list[object], number: int = 0) -> int:
        """Let one model of one member learn from an example, and return the number of updates."""
        place, own_number = self._models[number]
        return self._members[place].learn(example[place], own_number)

    def parser(self) -> CombinedParser:
        """Return the combination of the members' parsers so far; the same object until one of them changes."""
        parsers: list[Parser] = [member.learner.parser() for member in self._members]
        known = self._parser
        if known is None or any(a is not b for a, b in zip(known.members, parsers, strict=True)):
            known = self._parser = CombinedParser(parsers, self._config)
        return known

    def state_to_bytes(self) -> bytes:
        """Return everything that learning changes: for each member the length of its state, then the state."""
        return packed_states(member.state_to_bytes() for member in self._members)

    def state_from_bytes(self, data: bytes) -> None:
        """Restore the state of a learner of the same treebank and configuration. Raises ModelError for others."""
        read_states(data, [member.state_from_bytes for member in self._members], _OTHER_MEMBERS)
        self._parser = None


class CombinedKind(ParserKind):
    """Parsers of several kinds that answer together."""

    name = "combined"
    part_name = "combined"
    config_type = CombinedConfig
    recipes: ClassVar[Mapping[str, Mapping[str, Any]]] = {"best": {"max_epochs": 6}}

    def needs(self, config: CombinedConfig) -> TrainingNeeds:
        """Return what training all members needs."""
        needs = [member.needs for member in config.resolved]
        return TrainingNeeds(
            tag_request=common_request([one.tag_request for one in needs]),
            clusters=config.clusters,
            cluster_words=config.cluster_words,
            gold_tag_interval=max(one.gold_tag_interval for one in needs),
        )

    def learner(
        self, trees: Sequence[Tree], tags: Sequence[Tags], config: Any, heads: HeadRules, clusters: Clusters | None
    ) -> Learner:
        """Return a learner of all members, which learn side by side."""
        return CombinedLearner(trees, tags, config, heads, clusters)

    def read(self, data: bytes, clusters: Clusters | None) -> Parser:
        """Return the parser that `to_bytes` wrote. Raises ModelError for anything else."""
        return CombinedParser.from_bytes(data, clusters)


COMBINED = CombinedKind()
