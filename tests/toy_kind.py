"""A complete custom kind of parser: right-branching trees with the treebank's most frequent label."""

import json
from collections import Counter
from dataclasses import dataclass

from spacy_incparse.parsing.catalogue import register_kind
from spacy_incparse.parsing.parse import Parse
from spacy_incparse.parsing.parser import FinishedLearner, Parser, ParserKind, TagRequest, TrainingNeeds
from spacy_incparse.settings import Settings
from spacy_incparse.trees.builder import TreeBuilder


@dataclass(frozen=True, kw_only=True)
class ToyConfig(Settings):
    favourite: str | None = None


class ToyParser(Parser):
    kind = "toy"

    def __init__(self, label, tags):
        self.labels, self.tags = (label,), tags

    def parse(self, words, tags, constraints=()):
        builder = TreeBuilder()
        for i, (word, tag) in enumerate(zip(words, tags, strict=True)):
            builder.open(self.labels[0] if i else "TOP")
            builder.leaf(tag, word)
        for _ in words:
            builder.close()
        return Parse(builder.finish(), -float(len(words)), "beam")

    def to_bytes(self, *, with_clusters=True):
        return json.dumps([self.labels[0], self.tags]).encode()


class ToyKind(ParserKind):
    name, part_name, config_type, trains_in_one_pass = "toy", "toy", ToyConfig, True
    recipes = {"toy": {"max_epochs": 1}}  # noqa: RUF012

    def needs(self, config):
        return TrainingNeeds(tag_request=TagRequest())

    def learner(self, trees, tags, config, heads, clusters):
        labels = Counter(node.label for tree in trees for node in tree.phrases()[1:])
        tags = sorted({tag for tree in trees for tag in tree.tags})
        return FinishedLearner(ToyParser(config.favourite or max(labels, key=labels.get), tags))

    def read(self, data, clusters):
        return ToyParser(*json.loads(data))


register_kind(ToyKind())
