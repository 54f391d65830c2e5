"""The flat classifier of Taskar et al. (2004, section 6): whether a span is a phrase, each span on its own."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from spacy_incparse.chart.lexical_spans import BEFORE, BEHIND, Feature, Span, span_words
from spacy_incparse.chart.sparse_features import FeatureNumbers
from spacy_incparse.errors import ModelError

STEP = 0.3  # of AdaGrad
L2 = 0.01  # strength of the prior, per sentence
N_EPOCHS = 10


class TaggedSpans(NamedTuple):
    """A sentence, and the spans of its phrases."""

    words: Sequence[str]
    tags: Sequence[str]
    phrases: Collection[Span]


class ConstituentClassifier:
    """Logistic regression over the words and tags of spans, learned by stochastic gradient (AdaGrad)."""

    def __init__(self) -> None:
        self.numbers = FeatureNumbers()
        self.weights = np.zeros(0)

    @classmethod
    def train(
        cls, sentences: Sequence[TaggedSpans], *, n_epochs: int = N_EPOCHS, seed: int = 0
    ) -> ConstituentClassifier:
        """Learn from all spans of sentences."""
        model = cls()
        examples = []
        for sentence in sentences:
            owners, features = model._rows(sentence.words, sentence.tags)
            answers = np.array([span in sentence.phrases for span in _spans(len(sentence.words))], float)
            examples.append((owners, features, answers))
        model.numbers.is_open = False
        model.weights = np.zeros(len(model.numbers))
        squares = np.full(len(model.numbers), 1e-8)
        order = np.random.default_rng(seed)
        for _ in range(n_epochs):
            for number in order.permutation(len(examples)).tolist():
                owners, features, answers = examples[number]
                model._learn(owners, features, answers, squares)
        return model

    def to_dict(self) -> dict[str, Any]:
        """Return the classifier in a form suitable for msgpack."""
        return {"features": list(self.numbers.features), "weights": self.weights.astype("<f8").tobytes()}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ConstituentClassifier:
        """Undo `to_dict`. Raises ModelError for anything else."""
        model = cls()
        model.numbers = FeatureNumbers.closed(map(tuple, data["features"]))
        model.weights = np.frombuffer(data["weights"], "<f8")
        if len(model.weights) != len(model.numbers):
            raise ModelError(
                f"the model is damaged: it has {len(model.weights)} weights of {len(model.numbers)} features of spans"
            )
        return model

    def phrases(self, words: Sequence[str], tags: Sequence[str]) -> frozenset[Span]:
        """Return the spans that are more probably phrases than not."""
        owners, features = self._rows(words, tags)
        spans = list(_spans(len(words)))
        scores = np.bincount(owners, self.weights[features], minlength=len(spans))
        return frozenset(span for span, score in zip(spans, scores.tolist(), strict=True) if score > 0)

    def _rows(self, words: Sequence[str], tags: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return the span of each feature and the features: int64 (n,) both."""
        found = [self.numbers.of(span_features(words, tags, *span)) for span in _spans(len(words))]
        owners = np.repeat(np.arange(len(found)), [len(features) for features in found])
        return owners, np.array([feature for features in found for feature in features], np.int64)

    def _learn(self, owners: np.ndarray, features: np.ndarray, answers: np.ndarray, squares: np.ndarray) -> None:
        """Make one step on the spans of a sentence; squares: the sums of squared gradients."""
        scores = np.bincount(owners, self.weights[features], minlength=len(answers))
        errors = 1 / (1 + np.exp(-scores)) - answers
        touched, places = np.unique(features, return_inverse=True)
        gradient = np.bincount(places, errors[owners]) + L2 * self.weights[touched]
        squares[touched] += gradient**2
        self.weights[touched] -= STEP * gradient / np.sqrt(squares[touched])


def span_features(words: Sequence[str], tags: Sequence[str], start: int, end: int) -> Iterator[Feature]:
    """Yield the features of a span's words, of the tags in and around it, and of their pairs."""
    before = tags[start - 1] if start else BEFORE
    behind = tags[end] if end < len(tags) else BEHIND
    first, last = tags[start], tags[end - 1]
    yield ("any",)
    yield from span_words(words, start, end)
    yield ("tag before", before)
    yield ("first tag", first)
    yield ("last tag", last)
    yield ("tag behind", behind)
    yield ("tags before+first", before, first)
    yield ("tags last+behind", last, behind)
    yield ("tags before+behind", before, behind)
    yield ("tags first+last", first, last)
    yield ("all tags", *tags[start:end])


def _spans(n_words: int) -> Iterator[Span]:
    for start in range(n_words):
        for end in range(start + 1, n_words + 1):
            yield start, end
