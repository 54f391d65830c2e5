"""The opinions of several parsers on a sentence, combined to one tree, or to a list of trees."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import exp, log
from typing import Any, ClassVar, cast

import srsly

from spacy_incparse.errors import ConfigError, IncparseError, ModelError
from spacy_incparse.linear.clusters import MAX_WORDS, Clusters
from spacy_incparse.linear.templates import NAMED_SETS
from spacy_incparse.parsing.catalogue import find_kind, recipes
from spacy_incparse.parsing.nbest import phrases_of
from spacy_incparse.parsing.parse import (
    Constraint,
    Constraints,
    Input,
    Parse,
    Posterior,
    Tags,
    TreeScore,
    check_n_analyses,
    check_sentence,
    checked_constraints,
    required_spans,
)
from spacy_incparse.parsing.parser import (
    Parser,
    ParserKind,
    TagRequest,
    TrainingNeeds,
    common_request,
    requested_tags,
)
from spacy_incparse.parsing.recombination import Recombination
from spacy_incparse.settings import MOST, Settings, check_number, check_range
from spacy_incparse.trees.arrays import Phrase
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree


class Combination:
    """Trees of a sentence and the probabilities of their phrases, averaged over the members.

    opinions: those that can be combined (`agreeing`). threshold: the probability from which on a phrase is worth
    having. constraints: those of the sentence.
    """

    def __init__(self, opinions: Sequence[Opinion], threshold: float, constraints: Sequence[Constraint] = ()):
        self.opinions, self.threshold = opinions, threshold
        self.unmet = opinions[0].parses[0].unmet
        self._required = required_spans(constraints, self.unmet)

    @property
    def source(self) -> str:
        """The source of the tree: that of the members' best trees if it is the same for all, otherwise "beam"."""
        sources = {opinion.parses[0].source for opinion in self.opinions}
        return sources.pop() if len(sources) == 1 else "beam"

    @cached_property
    def phrases(self) -> dict[Phrase, float]:
        """The probability of each phrase that some member proposes."""
        total = sum(opinion.weight for opinion in self.opinions)
        sums: dict[Phrase, float] = {}
        for opinion in self.opinions:
            share = opinion.weight / total
            for phrase, probability in opinion.phrases.items():
                sums[phrase] = sums.get(phrase, 0.0) + share * probability
        return sums

    def gain(self, tree: Tree) -> float:
        """Return the sum of the probabilities of a tree's phrases, minus the threshold for each; the root is free."""
        return self._recombination.gain(tree)

    def best(self) -> Parse:
        """Return the tree of the highest gain, recombined from the phrases of all members."""
        first = self.opinions[0].parses[0]
        if first.source == "flat":
            return first
        tree = self._recombination.best_tree()
        return Parse(tree, self.gain(tree), self.source, self.unmet)

    def nbest(self) -> list[Parse]:
        """Return the best tree, then all others of the members' lists by descending gain; ties: the first."""
        best = self.best()
        if best.source == "flat":
            return [best]
        known = {tuple(best.tree.spans())}
        others = []
        for parse in self._parses():
            key = tuple(parse.tree.spans())
            if key not in known:
                known.add(key)
                others.append(Parse(parse.tree, self.gain(parse.tree), parse.source, self.unmet))
        return [best, *sorted(others, key=lambda parse: -parse.score)]

    def posterior(self, temperature: float) -> Posterior | None:
        """Return the averaged probabilities of phrases, and those of trees among all trees of the lists; None if flat.

        temperature: turns expected gains into probabilities of whole trees.
        """
        parses = self.nbest()
        if parses[0].source == "flat":
            return None
        ratios = [parse.score / temperature for parse in parses]
        top = max(ratios)
        return Posterior(temperature, top + log(sum(exp(ratio - top) for ratio in ratios)), self.phrases)

    @cached_property
    def _recombination(self) -> Recombination:
        trees = [parse.tree for parse in self._parses()]
        return Recombination(trees, self.phrases, self.threshold, self._required)

    def _parses(self) -> Iterator[Parse]:
        return (parse for opinion in self.opinions for parse in opinion.parses)


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


class CombiningParser(Parser):
    """Parsers whose probabilities of phrases are averaged.

    Scores are expected gains: the sum of the probabilities of a tree's phrases, minus the threshold for each.
    """

    @property
    def has_posterior(self) -> bool:
        """True: it averages the probabilities of its members."""
        return True

    @abstractmethod
    def _combination(
        self, words: Sequence[str], tags: Tags | None, constraints: Constraints = (), *more: Any
    ) -> Combination:
        """Return what the members say of a sentence; that of the last one is kept, for its other trees."""

    def parse(self, words: Sequence[str], tags: Tags, constraints: Constraints = (), *more: Any) -> Parse:
        """Return the tree of the highest expected gain, recombined from the phrases of all members.

        constraints: required and forbidden phrases (`parsers.constraints.Constraint`). Those that the members' searches
        cannot meet together with those before them are left out and listed in `unmet`. Raises ValueError if there are
        no words, or not as many tags as words, and ConfigError for constraints on other words.
        """
        return self._combination(words, tags, constraints, *more).best()

    def nbest(self, words: Sequence[str], tags: Tags, k: int, constraints: Constraints = (), *more: Any) -> list[Parse]:
        """Return up to k trees: that of `parse`, then those of the members' lists by descending gain.

        Raises ValueError if k is below 1.
        """
        check_n_analyses(k)
        combination = self._combination(words, tags, constraints, *more)
        return [combination.best()] if k == 1 else combination.nbest()[:k]

    def posterior(
        self,
        words: Sequence[str],
        tags: Tags,
        constraints: Constraints = (),
        *more: Any,
        temperature: float | None = None,
    ) -> Posterior | None:
        """Return the averaged probabilities of phrases, and those of trees among the n-best; None without temperature.

        temperature: of the expected gains; by default, that of the parser.
        """
        temperature = temperature or self.temperature
        return (
            None if temperature is None else self._combination(words, tags, constraints, *more).posterior(temperature)
        )

    def score(self, words: Sequence[str], tags: Tags | None, tree: Tree, *more: Any) -> TreeScore:
        """Return the expected gain of a normalized tree of the sentence; there is no derivation.

        tags: those that the sentence would be parsed under; None: the tree's own. Raises ValueError if the tree has
        other words.
        """
        if tuple(words) != tree.words:
            raise ValueError(f"the tree has other words than the sentence: {tree.words[:8]} and {tuple(words)[:8]}")
        tags = tree.tags if tags is None else tags
        return TreeScore(tree, self._combination(words, tags, (), *more).gain(tree), ())


class CombinedParser(CombiningParser):
    """Parsers that were trained on the same treebank with the same tagger, and are stored together."""

    kind = "combined"

    def __init__(self, parsers: Sequence[Parser], config: CombinedConfig, temperature: float | None = None):
        """Create a combination; parsers: one for each member of the configuration, in the same order."""
        self._parsers, self.config, self.temperature = tuple(parsers), config, temperature
        self._members = [
            TrainedMember(member.name, parser, member.weight, member.temperature, config.list_size)
            for member, parser in zip(config.resolved, parsers, strict=True)
        ]
        self._last: tuple[Any, Combination] | None = None

    @property
    def members(self) -> tuple[Parser, ...]:
        """The parsers that it combines."""
        return self._parsers

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags that its members know, the most frequent ones of the first member first."""
        return tuple(dict.fromkeys(tag for parser in self.members for tag in parser.tags))

    @property
    def labels(self) -> tuple[str, ...]:
        """The phrase labels that its trees may have, sorted."""
        return tuple(sorted({label for parser in self.members for label in parser.labels}))

    @property
    def heads(self) -> HeadRules:
        """The head rules of the treebank that its members were trained on."""
        return self.members[0].heads

    @property
    def clusters(self) -> Clusters | None:
        """The word clusters that its members use."""
        return next((parser.clusters for parser in self.members if parser.clusters), None)

    @property
    def tag_request(self) -> TagRequest | None:
        """The tags from which each member gets those that it needs; None if all find their own."""
        return common_request([parser.tag_request for parser in self.members])

    def with_search(self, **settings: object) -> CombinedParser:
        """Return a parser with the same members and other search settings (threshold, list_size)."""
        return CombinedParser(self.members, self.config.with_search(**settings), self.temperature)

    def to_bytes(self, *, with_clusters: bool = True) -> bytes:
        """Return all members as bytes, with their clusters once, or without them if the tagger stores the same ones."""
        content: dict[str, Any] = {
            "config": self.config.to_dict(),
            "temperature": self.temperature,
            "members": [[parser.kind, parser.to_bytes(with_clusters=False)] for parser in self.members],
        }
        if self.clusters and with_clusters:
            content["clusters"] = self.clusters.to_bytes()
        return srsly.msgpack_dumps(content)

    @classmethod
    def from_bytes(cls, data: bytes, clusters: Clusters | None = None) -> CombinedParser:
        """Undo `to_bytes`; `clusters` are for a parser stored without them. Raises ModelError for anything else."""
        try:
            content = srsly.msgpack_loads(data)
            config = CombinedConfig.from_dict(content["config"])
            if "clusters" in content:
                clusters = Clusters.from_bytes(content["clusters"])
            temperature = content["temperature"]
            if temperature is not None and not temperature > 0:
                raise ValueError(f"a temperature of {temperature}")
            kinds = [member.kind.name for member in config.resolved]
            if [kind for kind, _ in content["members"]] != kinds:
                raise ValueError(f"its parsers are not of the kinds {', '.join(kinds)}")
            parsers = [find_kind(kind).read(part, clusters) for kind, part in content["members"]]
            return cls(parsers, config, temperature)
        except ModelError:
            raise
        except Exception as error:
            raise ModelError(f"these bytes are not a combination of parsers: {error}") from error

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_bytes, (self.to_bytes(),)

    def _combination(self, words: Sequence[str], tags: Tags | None, constraints: Constraints = ()) -> Combination:
        check_sentence(words, tags)
        tags = [None] * len(words) if tags is None else tags
        wanted = checked_constraints(constraints, len(words))
        key = tuple(words), list(tags), wanted, [member.temperature for member in self._members]
        last = self._last
        if last is not None and last[0] == key:
            return last[1]
        opinions = agreeing([member.opinion(words, tags, wanted) for member in self._members])
        found = Combination(opinions, self.config.threshold, wanted)
        self._last = key, found
        return found


@dataclass(frozen=True, kw_only=True)
class CombinerSearch(Settings):
    """The settings of the search; all of them can be changed at any time.

    threshold: the probability from which on a phrase is worth having; lower values give more phrases.
    list_size: number of trees of a member to which their probabilities are relative, if it does not know those of all.
    """

    SEARCH = ("threshold", "list_size")

    threshold: float = 0.45
    list_size: int = 50

    def __post_init__(self) -> None:
        check_range("threshold", self.threshold, 0, 0.99)
        check_number("list_size", self.list_size, 1, MOST)


class ComponentCombination(CombiningParser):
    """A parser of sentences that each member sees in its own way: `of_members` has the members' inputs.

    parsers, weights: those of the members, by the names of their components, in the same order.
    """

    kind = "component_combination"

    def __init__(
        self,
        parsers: Sequence[Parser],
        weights: dict[str, float],
        search: CombinerSearch | None = None,
        temperature: float | None = None,
    ):
        self._parsers, self._weights = tuple(parsers), dict(weights)
        # Expected gains differ less than the scores of the member that they depend on.
        self.score_tolerance = max(getattr(parser, "score_tolerance", 0.0) for parser in self._parsers)
        self.config, self.temperature = search or CombinerSearch(), temperature
        size = self.config.list_size
        named = zip(self._weights.items(), self._parsers, strict=True)
        self._members = [TrainedMember(name, parser, weight, None, size) for (name, weight), parser in named]
        self._last: tuple[Any, Combination] | None = None

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags that its members know, those of the first member first."""
        return tuple(dict.fromkeys(tag for parser in self._parsers for tag in parser.tags))

    @property
    def labels(self) -> tuple[str, ...]:
        """The phrase labels that its trees may have, sorted."""
        return tuple(sorted({label for parser in self._parsers for label in parser.labels}))

    @property
    def heads(self) -> HeadRules:
        """The head rules of the treebank that the first member was trained on."""
        return self._parsers[0].heads

    @property
    def tag_request(self) -> TagRequest | None:
        """None: the tags come from the components of the members."""
        return None

    def with_search(self, **settings: object) -> Parser:
        """Return a parser with the same members and other search settings (threshold, list_size)."""
        search = self.config.with_search(**settings)
        found = ComponentCombination(self._parsers, self._weights, search, self.temperature)
        return cast("Parser", found)

    def to_bytes(self, *, with_clusters: bool = True) -> bytes:
        """Raise IncparseError: each component stores its own parser."""
        raise IncparseError("a combination of components is stored as a part of its pipeline: use nlp.to_disk(path)")

    def _combination(
        self,
        words: Sequence[str],
        tags: Tags | None,
        constraints: Constraints = (),
        of_members: Sequence[Input] | None = None,
    ) -> Combination:
        check_sentence(words, tags)
        if of_members is None:
            raise IncparseError("the members of a combination have tags of their own: parse Docs, or their sentences")
        wanted = checked_constraints(constraints, len(words))
        last = self._last
        if last is not None and last[0][0] is of_members and last[0][1:] == (tuple(words), wanted):
            return last[1]
        asked = zip(self._members, of_members, strict=True)
        opinions = agreeing([member.opinion(words, own, wanted, *more) for member, (_, own, _, *more) in asked])
        found = Combination(opinions, self.config.threshold, wanted)
        self._last = (of_members, tuple(words), wanted), found
        return found


PERCEPTRONS = 60.0  # a temperature of scores; with half or twice as much, the combination is as good
N_EXAMPLES = 10  # trees of a parser that knows the probabilities of all, for n-best lists


@dataclass(frozen=True)
class Opinion:
    """What a member says of a sentence: its trees, best first, and the probability of each phrase."""

    parses: Sequence[Parse]
    phrases: Mapping[Phrase, float]
    weight: float = 1.0

    @property
    def is_flat(self) -> bool:
        """Whether the member found no tree."""
        return self.parses[0].source == "flat"


@dataclass(frozen=True)
class TrainedMember:
    """A parser of a combination.

    weight: how much its probabilities count. default_temperature: turns scores into probabilities until the parser has
    a temperature of its own, which is fitted on held-out trees; None: that of most perceptrons, or 1 for exact
    probabilities. list_size: the number of trees that probabilities are relative to.
    """

    name: str
    parser: Parser
    weight: float
    default_temperature: float | None
    list_size: int

    @property
    def temperature(self) -> float | None:
        """The temperature of its scores; None if none is known."""
        return self.default_temperature if self.parser.temperature is None else self.parser.temperature

    @cached_property
    def _search(self) -> Parser:
        """The parser with a search that prunes by rank alone: probabilities need trees that score far below."""
        return self.parser.with_wide_search(self.list_size)

    def opinion(self, words: Sequence[str], tags: Tags, constraints: Sequence[Constraint], *more: Any) -> Opinion:
        """Return the trees of a sentence and the probabilities of their phrases under a request's tags.

        more: what the parser's `parse` takes beyond constraints.
        """
        own_tags = requested_tags(tags, self.parser.tag_request)
        temperature = self.temperature or 1.0
        exact = self.parser.posterior(words, own_tags, constraints, *more, temperature=temperature)
        if exact is not None:
            parses = self.parser.nbest(words, own_tags, N_EXAMPLES, constraints, *more)
            return Opinion(parses, exact.phrases, self.weight)
        parses = self._search.nbest(words, own_tags, self.list_size, constraints, *more)
        return Opinion(parses, phrases_of(parses, self.temperature or PERCEPTRONS), self.weight)


def agreeing(opinions: Sequence[Opinion]) -> list[Opinion]:
    """Return the opinions that can be combined: those with a tree, and with the same constraints met.

    If members differ in the constraints that they met, those that met most count, the first ones if there are as many.
    If no member has found a tree, only the first counts.
    """
    found = [opinion for opinion in opinions if not opinion.is_flat] or list(opinions[:1])
    unmet = min((opinion.parses[0].unmet for opinion in found), key=len)
    return [opinion for opinion in found if opinion.parses[0].unmet == unmet]
