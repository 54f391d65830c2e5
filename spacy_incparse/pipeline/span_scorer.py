"""The model of `incparse_chart`: any layer that gives vectors of tokens, and a head that scores spans."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from spacy.ml.models.tok2vec import MultiHashEmbed
from spacy.tokens import Doc
from thinc.api import Model

from spacy_incparse.pipeline.listened_vectors import reads_transformer
from spacy_incparse.pipeline.span_head import (
    Rows,
    SpanScores,
    WordVectors,
    fenceposts,
    label_scores,
    span_head,
    tag_scores,
)
from spacy_incparse.settings import MOST, check_number

HALF_PRECISION = 1.0  # by how much the scores of trees differ if vectors are in bfloat16: several times what was seen
SAMPLE_DOCS = 3  # to find the width of vectors, if the layer does not say it
FORM_ROWS = {"SHAPE": 500, "PREFIX": 500, "SUFFIX": 2000}  # spaCy's: Xxxxx, the first character, the last three


@dataclass
class CutDocs:
    """Whole Docs, as listeners need them, and the tokens of the sentences in each: lists of token indices."""

    docs: list[Doc]
    sentences: list[list[Sequence[int]]]


def create_span_scorer(tok2vec: Model[list[Doc], list[Rows]], hidden_width: int = 256, form_width: int = 0) -> Model:
    """Return the model, for `@architectures = "spacy_incparse.SpanScorer.v1"`.

    tok2vec: any layer from Docs to vectors of tokens, such as `spacy.HashEmbedCNN.v2`, `spacy.Tok2VecListener.v1` or
        the listener of a transformer.
    hidden_width: the width of the layer between the vectors and the scores.
    form_width: the width of a learned vector of each token's shape, first character and last three, beside that of
        `tok2vec`; 0: none. Good for layers that do not see capitals, such as uncased transformers.
    """
    check_number("form_width", form_width, 0, MOST)
    head = span_head(hidden_width)
    layers: list[Model] = [tok2vec, head]
    if form_width:
        layers.append(MultiHashEmbed(form_width, list(FORM_ROWS), list(FORM_ROWS.values()), False))
    return Model("span_scorer", _forward, init=_init, layers=layers, refs={"tok2vec": tok2vec, "head": head})


def own_layers(model: Model) -> list[Model]:
    """Return the layers of a model that it does not share with other components."""
    return model.layers[1:]


def word_vectors(model: Model, docs: list[Doc]) -> list[Rows]:
    """Return the vectors of the tokens of each Doc."""
    parts = [layer.predict(docs) for layer in _word_layers(model)]
    return [model.ops.xp.hstack(rows) for rows in zip(*parts, strict=True)]


def cut_vectors(model: Model, given: CutDocs) -> list[Rows]:
    """Return the vectors of the words of each sentence; the Docs go through the layer together."""
    vectors = word_vectors(model, given.docs)
    return [rows[_index(cut)] for rows, cuts in zip(vectors, given.sentences, strict=True) for cut in cuts]


def score_tolerance(model: Model) -> float:
    """Return by how much the scores of one tree may differ between two runs of a model, in batches of different sizes.

    Transformers may compute in half precision, whether they are layers of the model or of another component.
    """
    from spacy_incparse.chart.spans.span_parser import SINGLE_PRECISION

    layers = model.get_ref("tok2vec").walk()
    return HALF_PRECISION if any(layer.shims or reads_transformer(layer) for layer in layers) else SINGLE_PRECISION


class ModelScorer:
    """Scores the spans of sentences, given the vectors of their words, with the head of a trained model."""

    def __init__(self, model: Model):
        self._model = model

    def read(self, vectors: Sequence[Rows]) -> tuple[list[Rows], list[np.ndarray]]:
        """Return the fenceposts of each sentence, and the numbers of its words' best tags."""
        head, ops = self._head, self._model.ops
        given = WordVectors(ops.xp.concatenate(vectors), [len(rows) for rows in vectors])
        fences = fenceposts(head, given)
        tags = ops.to_numpy(tag_scores(head, given).argmax(axis=1))
        words = np.cumsum(given.lengths)
        posts = words + np.arange(1, len(words) + 1)
        return _split(fences, posts), _split(tags, words)

    def label_scores(self, pieces: Sequence[Any]) -> list[np.ndarray]:
        """Return the scores of the labels of each sentence, given its fenceposts."""
        head, ops = self._head, self._model.ops
        lengths = [len(piece) - 1 for piece in pieces]
        scores = ops.to_numpy(label_scores(head, ops.xp.concatenate(pieces), lengths))
        return _split(scores, np.cumsum([length * (length + 1) // 2 for length in lengths]))

    @property
    def _head(self) -> Model:
        return self._model.get_ref("head")


def _forward(model: Model, given: CutDocs, is_train: bool) -> tuple[SpanScores, Callable[[SpanScores], list]]:
    head = model.get_ref("head")
    called = [layer(given.docs, is_train) for layer in _word_layers(model)]
    vectors = [model.ops.xp.hstack(rows) for rows in zip(*(rows for rows, _ in called), strict=True)]
    lengths = [len(cut) for cuts in given.sentences for cut in cuts]
    rows = [vectors[i][_index(cut)] for i, cuts in enumerate(given.sentences) for cut in cuts]
    width = head.get_dim("nI")
    joined = model.ops.xp.concatenate(rows) if rows else model.ops.alloc2f(0, width)
    scores, from_scores = head(WordVectors(joined, lengths), is_train)

    def backprop(gradient: SpanScores) -> list:
        found = [model.ops.alloc2f(len(doc), width) for doc in given.docs]
        of_words, first = from_scores(gradient).vectors, 0
        for rows, sentences in zip(found, given.sentences, strict=True):
            for cut in sentences:
                rows[_index(cut)] += of_words[first : first + len(cut)]
                first += len(cut)
        return _to_layers(called, found)

    return scores, backprop


def _to_layers(called: Sequence[tuple[list[Rows], Callable]], gradient: list[Rows]) -> list:
    """Give each layer the part of the gradient that belongs to its vectors; return what the first one returns."""
    found, first = [], 0
    for rows, from_vectors in called:
        last = first + (rows[0].shape[1] if rows else 0)
        found.append(from_vectors([one[:, first:last] for one in gradient]))
        first = last
    return found[0]


def _word_layers(model: Model) -> list[Model]:
    """Return the layers from Docs to the vectors of tokens, which stand side by side."""
    return [model.layers[0], *model.layers[2:]]


def _init(model: Model, X: CutDocs | None = None, Y: SpanScores | None = None) -> Model:  # noqa: N803  # thinc's
    docs, head = X.docs if X is not None else None, model.get_ref("head")
    layers = _word_layers(model)
    for layer in layers:
        layer.initialize(docs)
    if all(layer.has_dim("nO") for layer in layers):
        head.set_dim("nI", sum(layer.get_dim("nO") for layer in layers))
    elif docs is not None:
        head.set_dim("nI", word_vectors(model, docs[:SAMPLE_DOCS])[0].shape[1])
    head.initialize()
    return model


def _index(cut: Sequence[int]) -> Any:
    """Return what selects the rows of a sentence's tokens."""
    return slice(cut.start, cut.stop) if isinstance(cut, range) else np.asarray(cut)


def _split(rows: Any, ends: np.ndarray) -> list[Any]:
    return [rows[first:last] for first, last in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)]
