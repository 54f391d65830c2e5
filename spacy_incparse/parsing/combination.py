"""The opinions of several parsers on a sentence, combined to one tree, or to a list of trees."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp, log
from typing import Any

from spacy_incparse.errors import IncparseError
from spacy_incparse.parsing.local_trees import LocalTree
from spacy_incparse.parsing.nbest import Recombination, phrases_of
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
from spacy_incparse.parsing.parser import Parser, requested_tags
from spacy_incparse.settings import MOST, Settings, check_number, check_range
from spacy_incparse.trees.arrays import Phrase
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

PERCEPTRONS = 60.0  # a temperature of scores; with half or twice as much, the combination is as good
N_EXAMPLES = 10  # trees of a parser that knows the probabilities of all, for n-best lists


@dataclass(frozen=True)
class Opinion:
    """What a member says of a sentence: its trees, best first, and the probability of each phrase."""

    parses: Sequence[Parse]
    phrases: Mapping[Phrase, float]
    weight: float = 1.0


def agreeing(opinions: Sequence[Opinion]) -> list[Opinion]:
    """Return the opinions that can be combined: those with a tree, and with the same constraints met.

    If members differ in the constraints that they met, those that met most count, the first ones if there are as many.
    If no member has found a tree, only the first counts.
    """
    found = [opinion for opinion in opinions if opinion.parses[0].source != "flat"] or list(opinions[:1])
    unmet = min((opinion.parses[0].unmet for opinion in found), key=len)
    return [opinion for opinion in found if opinion.parses[0].unmet == unmet]


class Combination:
    """Trees of a sentence and the probabilities of their phrases, averaged over the members.

    opinions: those that can be combined (`agreeing`). threshold: the probability from which on a phrase is worth
    having. constraints: those of the sentence. seen: the local trees of training, see `Recombination`.
    """

    def __init__(
        self,
        opinions: Sequence[Opinion],
        threshold: float,
        constraints: Sequence[Constraint] = (),
        seen: Collection[LocalTree] = (),
    ):
        self._parses = [parse for opinion in opinions for parse in opinion.parses]
        total = sum(opinion.weight for opinion in opinions)
        self.phrases: dict[Phrase, float] = {}
        for opinion in opinions:
            share = opinion.weight / total
            for phrase, probability in opinion.phrases.items():
                self.phrases[phrase] = self.phrases.get(phrase, 0.0) + share * probability
        sources = {opinion.parses[0].source for opinion in opinions}
        self._source = sources.pop() if len(sources) == 1 else "beam"
        self._unmet = self._parses[0].unmet
        required = required_spans(constraints, self._unmet)
        trees = [parse.tree for parse in self._parses]
        self._recombination = Recombination(trees, self.phrases, threshold, required, seen)

    def gain(self, tree: Tree) -> float:
        """Return the gain of a tree, see `Recombination.gain`."""
        return self._recombination.gain(tree)

    def best(self) -> Parse:
        """Return the tree of the highest gain, recombined from the phrases of all members.

        Its source is that of the members' best trees if it is the same for all, otherwise "beam".
        """
        if self._source == "flat":
            return self._parses[0]
        tree = self._recombination.best_tree()
        return Parse(tree, self.gain(tree), self._source, self._unmet)

    def nbest(self) -> list[Parse]:
        """Return the best tree, then all others of the members' lists by descending gain; ties: the first."""
        best = self.best()
        if best.source == "flat":
            return [best]
        known = {tuple(best.tree.spans())}
        others = []
        for parse in self._parses:
            key = tuple(parse.tree.spans())
            if key not in known:
                known.add(key)
                others.append(Parse(parse.tree, self.gain(parse.tree), parse.source, self._unmet))
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


@dataclass(frozen=True)
class Voter:
    """A parser of a combination.

    weight: how much its probabilities count. default_temperature: turns scores into probabilities until the parser has
    a temperature of its own, which is fitted on held-out trees; None: that of most perceptrons, or 1 for exact
    probabilities. list_size: the number of trees that probabilities are relative to.
    """

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
        # It prunes by rank alone: probabilities need trees that score far below.
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


class CombiningParser(Parser):
    """Parsers whose probabilities of phrases are averaged.

    Scores are expected gains: the sum of the probabilities of a tree's phrases, minus the threshold for each.
    """

    config: Any
    has_posterior = True

    def __init__(self, parsers: Sequence[Parser], voters: Sequence[Voter], config: Any, temperature: float | None):
        self._parsers, self._members = tuple(parsers), voters
        self.config, self.temperature = config, temperature
        self._last: tuple[Any, Sequence[Input], Combination] | None = None

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

    @cached_property
    def local_trees(self) -> frozenset[LocalTree]:
        """The local trees that the training of any member has seen."""
        return frozenset().union(*(parser.local_trees for parser in self._parsers))

    @abstractmethod
    def _inputs(self, words: Sequence[str], tags: Tags | None, *more: Any) -> tuple[Any, Sequence[Input]]:
        """Return what else the members' opinions depend on, and their inputs."""

    def _combination(
        self, words: Sequence[str], tags: Tags | None, constraints: Constraints = (), *more: Any
    ) -> Combination:
        """Return what the members say of a sentence; that of the last one is kept, for its other trees."""
        check_sentence(words, tags)
        own, inputs = self._inputs(words, tags, *more)
        wanted = checked_constraints(constraints, len(words))
        key, last = (tuple(words), wanted, own), self._last
        if last is None or last[0] != key:
            asked = zip(self._members, inputs, strict=True)
            opinions = [voter.opinion(words, tags, wanted, *more) for voter, (_, tags, _, *more) in asked]
            combination = Combination(agreeing(opinions), self.config.threshold, wanted, self.local_trees)
            last = self._last = key, inputs, combination
        return last[2]

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
    tag_request = None  # the tags come from the components of the members

    def __init__(
        self,
        parsers: Sequence[Parser],
        weights: dict[str, float],
        search: CombinerSearch | None = None,
        temperature: float | None = None,
    ):
        config = search or CombinerSearch()
        named = zip(parsers, weights.values(), strict=True)
        voters = [Voter(parser, weight, None, config.list_size) for parser, weight in named]
        super().__init__(parsers, voters, config, temperature)
        self._weights = dict(weights)
        # Expected gains differ less than the scores of the member that they depend on.
        self.score_tolerance = max(parser.score_tolerance for parser in parsers)

    def with_search(self, **settings: object) -> ComponentCombination:
        """Return a parser with the same members and other search settings (threshold, list_size)."""
        return ComponentCombination(self._parsers, self._weights, self.config.with_search(**settings), self.temperature)

    def to_bytes(self, *, with_clusters: bool = True) -> bytes:
        """Raise IncparseError: each component stores its own parser."""
        raise IncparseError("a combination of components is stored as a part of its pipeline: use nlp.to_disk(path)")

    def _inputs(
        self, words: Sequence[str], tags: Tags | None, of_members: Sequence[Input] | None = None
    ) -> tuple[Any, Sequence[Input]]:
        if of_members is None:
            raise IncparseError("the members of a combination have tags of their own: parse Docs, or their sentences")
        return id(of_members), of_members
