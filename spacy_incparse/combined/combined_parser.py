"""Several trained parsers that answer together with the tree of the highest expected F."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import srsly

from spacy_incparse.combined.combination import Combination
from spacy_incparse.combined.combined_config import CombinedConfig
from spacy_incparse.combined.members import TrainedMember, agreeing
from spacy_incparse.errors import ModelError
from spacy_incparse.lexicon.clusters import Clusters
from spacy_incparse.parsers.base import BaseParser
from spacy_incparse.parsers.catalogue import find_kind
from spacy_incparse.parsers.constraints import Constraints, checked_constraints
from spacy_incparse.parsers.parse import Parse, Tags, check_sentence
from spacy_incparse.parsers.posterior import Posterior
from spacy_incparse.parsers.protocol import ConstituencyParser, TagRequest
from spacy_incparse.parsers.pushed_words import check_n_analyses
from spacy_incparse.parsers.requested_tags import common_request
from spacy_incparse.parsers.tree_scores import TreeScore
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree


class CombinedParser(BaseParser):
    """Trained parsers whose probabilities of phrases are averaged.

    Scores are expected gains: the sum of the probabilities of a tree's phrases, minus the threshold for each.
    """

    kind = "combined"

    def __init__(self, parsers: Sequence[ConstituencyParser], config: CombinedConfig, temperature: float | None = None):
        """Create a combination; parsers: one for each member of the configuration, in the same order."""
        self._parsers, self.config, self.temperature = tuple(parsers), config, temperature
        self._members = [
            TrainedMember(member.name, parser, member.weight, member.temperature, config.list_size)
            for member, parser in zip(config.resolved, parsers, strict=True)
        ]
        self._last: tuple[Any, Combination] | None = None

    @property
    def members(self) -> tuple[ConstituencyParser, ...]:
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

    def parse(self, words: Sequence[str], tags: Tags, constraints: Constraints = ()) -> Parse:
        """Return the tree of the highest expected gain, recombined from the phrases of all members.

        constraints: required and forbidden phrases (`parsers.constraints.Constraint`). Those that the members' searches
        cannot meet together with those before them are left out and listed in `unmet`. Raises ValueError if there are
        no words, or not as many tags as words, and ConfigError for constraints on other words.
        """
        return self._combination(words, tags, constraints).best()

    def nbest(self, words: Sequence[str], tags: Tags, k: int, constraints: Constraints = ()) -> list[Parse]:
        """Return up to k trees: that of `parse`, then those of the members' lists by descending gain.

        Raises ValueError if k is below 1.
        """
        check_n_analyses(k)
        combination = self._combination(words, tags, constraints)
        return [combination.best()] if k == 1 else combination.nbest()[:k]

    def posterior(
        self, words: Sequence[str], tags: Tags, constraints: Constraints = (), temperature: float | None = None
    ) -> Posterior | None:
        """Return the averaged probabilities of phrases, and those of trees among the n-best; None without temperature.

        temperature: of the expected gains; by default, that of the parser.
        """
        temperature = temperature or self.temperature
        return None if temperature is None else self._combination(words, tags, constraints).posterior(temperature)

    def score(self, words: Sequence[str], tags: Tags | None, tree: Tree) -> TreeScore:
        """Return the expected gain of a normalized tree of the sentence; there is no derivation.

        tags: those that the sentence would be parsed under; None: the tree's own. Raises ValueError if the tree has
        other words.
        """
        if tuple(words) != tree.words:
            raise ValueError(f"the tree has other words than the sentence: {tree.words[:8]} and {tuple(words)[:8]}")
        return TreeScore(tree, self._combination(words, tree.tags if tags is None else tags).gain(tree), ())

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
        """Return what the members say of a sentence; that of the last one is kept, for its other trees."""
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
