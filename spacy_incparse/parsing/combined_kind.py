"""The kind of parser "combined": its recipe, training and storage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import srsly

from spacy_incparse.errors import ModelError
from spacy_incparse.linear.clusters import Clusters
from spacy_incparse.parsing.combination import CombinedConfig, CombinedParser, Member
from spacy_incparse.parsing.parse import Tags
from spacy_incparse.parsing.parser import Learner, Parser, ParserKind, TrainingNeeds, requested_tags
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree


class CombinedKind(ParserKind):
    """Parsers of several kinds that answer together."""

    name = "combined"
    part_name = "combined"
    config_type = CombinedConfig
    recipes: ClassVar[Mapping[str, Mapping[str, Any]]] = {"best": {"max_epochs": 6}}

    def needs(self, config: CombinedConfig) -> TrainingNeeds:
        """Return what training all members needs."""
        return config.needs

    def learner(
        self,
        trees: Sequence[Tree],
        tags: Sequence[Tags],
        config: CombinedConfig,
        heads: HeadRules,
        clusters: Clusters | None,
    ) -> Learner:
        """Return a learner of all members, which learn side by side."""

        return CombinedLearner(trees, tags, config, heads, clusters)

    def read(self, data: bytes, clusters: Clusters | None) -> Parser:
        """Return the parser that `to_bytes` wrote. Raises ModelError for anything else."""
        from spacy_incparse.parsing.combination import CombinedParser

        return CombinedParser.from_bytes(data, clusters)


COMBINED = CombinedKind()


class MemberLearner:
    """A member in training; after its own number of passes, it stops learning.

    rows: by the words of a training sentence, the tagger's tags for it.
    """

    def __init__(self, member: Member, learner: Learner, n_trees: int, rows: dict[tuple[str, ...], Tags]):
        self.member, self.learner = member, learner
        self._rows = rows
        self._n_left = [member.max_epochs * n_trees] * learner.n_models
        self._encoded: dict[tuple[tuple[str, ...], Tree], object] = {}

    @property
    def n_models(self) -> int:
        """The number of models that learn side by side."""
        return len(self._n_left)

    def encode(self, words: Sequence[str], tags: Tags, tree: Tree) -> object:
        """Return a sentence as the member learns from it, under the tags that it requests."""
        needs = self.member.needs
        if needs.gold_tag_interval or tuple(words) not in self._rows:
            return self._encode(words, tags, tree)
        # It never learns under gold tags: whatever the others get, it has the tagger's, encoded once.
        key = tuple(words), tree
        if key not in self._encoded:
            self._encoded[key] = self._encode(words, self._rows[tuple(words)], tree)
        return self._encoded[key]

    def learn(self, example: object, number: int) -> int:
        """Let a model learn from an example, unless it has finished its passes; return the number of updates."""
        if not self._n_left[number]:
            return 0
        self._n_left[number] -= 1
        return self.learner.learn(example, number)

    def state_to_bytes(self) -> bytes:
        """Return everything that learning changes: a line with what is left of the passes, and the learner's state."""
        return b"%b\n%b" % (srsly.json_dumps(self._n_left).encode(), self.learner.state_to_bytes())

    def state_from_bytes(self, data: bytes) -> None:
        """Restore what `state_to_bytes` returned."""
        line, _, state = data.partition(b"\n")
        n_left = srsly.json_loads(line)
        if len(n_left) != self.n_models:
            raise ModelError("the training state belongs to other members: start a new training")
        self.learner.state_from_bytes(state)
        self._n_left = n_left

    def _encode(self, words: Sequence[str], tags: Tags, tree: Tree) -> object:
        return self.learner.encode(words, requested_tags(tags, self.member.needs.tag_request), tree)


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
            self._members.append(MemberLearner(member, learner, len(trees), by_words))
        # The models of all members are numbered through.
        self._models = [(k, number) for k, member in enumerate(self._members) for number in range(member.n_models)]
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
        pieces: list[bytes] = []
        for member in self._members:  # one by one, to copy no more than one state at a time
            state = member.state_to_bytes()
            pieces += [len(state).to_bytes(8, "little"), state]
        return b"".join(pieces)

    def state_from_bytes(self, data: bytes) -> None:
        """Restore the state of a learner of the same treebank and configuration. Raises ModelError for others."""
        try:
            start = 0
            for member in self._members:
                end = start + 8 + int.from_bytes(data[start : start + 8], "little")
                member.state_from_bytes(data[start + 8 : end])
                start = end
            if start != len(data):
                raise ModelError("the training state belongs to other members: start a new training")
        except ModelError:
            raise
        except Exception as error:
            raise ModelError(f"the training state is damaged: {error!r}") from error
        self._parser = None
