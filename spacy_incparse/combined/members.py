"""The trained parsers of a combination, and what each of them says of a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from spacy_incparse.parsers.constraints import Constraint
from spacy_incparse.parsers.nbest import phrases_of
from spacy_incparse.parsers.parse import Parse, Tags
from spacy_incparse.parsers.protocol import ConstituencyParser
from spacy_incparse.parsers.requested_tags import requested_tags
from spacy_incparse.trees.arrays import Phrase

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
    parser: ConstituencyParser
    weight: float
    default_temperature: float | None
    list_size: int

    @property
    def temperature(self) -> float | None:
        """The temperature of its scores; None if none is known."""
        return self.default_temperature if self.parser.temperature is None else self.parser.temperature

    @cached_property
    def _search(self) -> ConstituencyParser:
        """The parser with a search that prunes by rank alone: probabilities need trees that score far below."""
        return self.parser.with_wide_search(self.list_size)

    def opinion(self, words: Sequence[str], tags: Tags, constraints: Sequence[Constraint]) -> Opinion:
        """Return the trees of a sentence and the probabilities of their phrases under a request's tags."""
        own_tags = requested_tags(tags, self.parser.tag_request)
        exact = self.parser.posterior(words, own_tags, constraints, self.temperature or 1.0)
        if exact is not None:
            return Opinion(self.parser.nbest(words, own_tags, N_EXAMPLES, constraints), exact.phrases, self.weight)
        parses = self._search.nbest(words, own_tags, self.list_size, constraints)
        return Opinion(parses, phrases_of(parses, self.temperature or PERCEPTRONS), self.weight)


def agreeing(opinions: Sequence[Opinion]) -> list[Opinion]:
    """Return the opinions that can be combined: those with a tree, and with the same constraints met.

    If members differ in the constraints that they met, those that met most count, the first ones if there are as many.
    If no member has found a tree, only the first counts.
    """
    found = [opinion for opinion in opinions if not opinion.is_flat] or list(opinions[:1])
    unmet = min((opinion.parses[0].unmet for opinion in found), key=len)
    return [opinion for opinion in found if opinion.parses[0].unmet == unmet]
