"""Several parsers, trained together, that answer together with the tree of the highest expected F."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import srsly

from spacy_incparse.combined.combination import Combination
from spacy_incparse.combined.combined_config import CombinedConfig
from spacy_incparse.combined.combining_parser import CombiningParser
from spacy_incparse.combined.members import TrainedMember, agreeing
from spacy_incparse.errors import ModelError
from spacy_incparse.lexicon.clusters import Clusters
from spacy_incparse.parsers.catalogue import find_kind
from spacy_incparse.parsers.constraints import Constraints, checked_constraints
from spacy_incparse.parsers.parse import Tags, check_sentence
from spacy_incparse.parsers.protocol import ConstituencyParser, TagRequest
from spacy_incparse.parsers.requested_tags import common_request
from spacy_incparse.trees.heads import HeadRules


class CombinedParser(CombiningParser):
    """Parsers that were trained on the same treebank with the same tagger, and are stored together."""

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
