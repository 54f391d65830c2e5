"""Parsers of several components of a pipeline that answer together with the tree of the highest expected F."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from spacy_incparse.combined.combination import Combination
from spacy_incparse.combined.combining_parser import CombiningParser
from spacy_incparse.combined.members import TrainedMember, agreeing
from spacy_incparse.errors import IncparseError
from spacy_incparse.parsers.constraints import Constraints, checked_constraints
from spacy_incparse.parsers.parse import Tags, best_tag, check_sentence
from spacy_incparse.parsers.protocol import ConstituencyParser, TagRequest
from spacy_incparse.settings import MOST, Settings, check_number, check_range
from spacy_incparse.trees.heads import HeadRules


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


class MemberTags(tuple[str, ...]):
    """The tags of a sentence as the first member sees them, and `of_members`, those of each."""

    of_members: tuple[Tags, ...]

    def __new__(cls, of_members: Sequence[Tags]) -> MemberTags:
        """Return the tags of members; there must be one at least."""
        found = super().__new__(cls, map(best_tag, of_members[0]))
        found.of_members = tuple(of_members)
        return found


class ComponentCombination(CombiningParser):
    """A parser whose sentences come with `MemberTags`.

    parsers, weights: those of the members, by the names of their components, in the same order.
    """

    kind = "component_combination"

    def __init__(
        self,
        parsers: Sequence[ConstituencyParser],
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

    def with_search(self, **settings: object) -> ConstituencyParser:
        """Return a parser with the same members and other search settings (threshold, list_size)."""
        search = self.config.with_search(**settings)
        found = ComponentCombination(self._parsers, self._weights, search, self.temperature)
        return cast(ConstituencyParser, found)

    def to_bytes(self, *, with_clusters: bool = True) -> bytes:
        """Raise IncparseError: each component stores its own parser."""
        raise IncparseError("a combination of components is stored as a part of its pipeline: use nlp.to_disk(path)")

    def _combination(self, words: Sequence[str], tags: Tags | None, constraints: Constraints = ()) -> Combination:
        check_sentence(words, tags)
        if not isinstance(tags, MemberTags):
            raise IncparseError("the members of a combination have tags of their own: parse Docs, or their sentences")
        wanted = checked_constraints(constraints, len(words))
        last = self._last
        if last is not None and last[0][0] is tags and last[0][1:] == (tuple(words), wanted):
            return last[1]
        asked = zip(self._members, tags.of_members, strict=True)
        opinions = agreeing([member.opinion(words, own, wanted) for member, own in asked])
        found = Combination(opinions, self.config.threshold, wanted)
        self._last = (tags, tuple(words), wanted), found
        return found
