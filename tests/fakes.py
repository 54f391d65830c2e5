"""Stand-ins for parser and tagger: right-branching trees, and tags by a word's first letter."""

from dataclasses import dataclass

from spacy_incparse.parsing.parser import TagRequest
from spacy_incparse.pipeline.model import ParserModel
from spacy_incparse.trees.builder import TreeBuilder
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree
from tests.small_pipeline import pipeline


@dataclass(frozen=True)
class FakeParse:
    tree: Tree
    score: float = -1.5
    source: str = "beam"
    unmet: tuple = ()


class FakeParser:
    """Gives `(TOP (S w (VP w (VP w))))`; fails on sentences with the word "crash"."""

    tags = ("CAP", "LOW", "PUNCT")
    labels = ("S", "VP")
    heads = HeadRules.from_name("en")
    temperature = None
    kind = "perceptron"
    clusters = None
    tag_request = TagRequest()
    known_words = ()

    def __init__(self, **search):
        self.search = search

    def parse_batch(self, sentences):
        return [self._parse(words, tags) for words, tags, _ in sentences]

    def with_search(self, **settings):
        return FakeParser(**settings)

    def _parse(self, words, tags):
        if "crash" in words:
            raise RuntimeError("something is wrong here")
        return FakeParse(right_branching(words, tags))


class FakeTagger:
    labels = FakeParser.tags
    look_ahead = 0

    def tag(self, words):
        return ["CAP" if word[0].isupper() else "LOW" if word[0].islower() else "PUNCT" for word in words]

    def candidate_tags(self, sentences, n_tags, margin):
        return self.tag_batch(sentences)

    def tag_batch(self, sentences):
        return [self.tag(words) for words in sentences]


def fake_model():
    model = ParserModel()
    model.set_weights(FakeTagger(), FakeParser())
    return model


def fake_pipeline(**config):
    nlp = pipeline(**config)
    nlp.get_pipe("incparse").model = fake_model()
    return nlp


def right_branching(words, tags):
    builder = TreeBuilder()
    builder.open("TOP")
    for i, (word, tag) in enumerate(zip(words, tags, strict=True)):
        builder.open("VP" if i else "S")
        builder.leaf(tag, word)
    for _ in range(len(words) + 1):
        builder.close()
    return builder.finish()
