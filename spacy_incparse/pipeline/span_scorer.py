"""The model of `incparse_chart`: any layer that gives vectors of tokens, and a head that scores spans."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model

from spacy_incparse.pipeline.span_head import (
    Rows,
    SpanScores,
    WordVectors,
    fenceposts,
    label_scores,
    span_head,
    tag_scores,
)

SAMPLE_DOCS = 3  # to find the width of vectors, if the layer does not say it


@dataclass
class CutDocs:
    """Whole Docs, as listeners need them, and the tokens of the sentences in each: lists of token indices."""

    docs: list[Doc]
    sentences: list[list[Sequence[int]]]


def create_span_scorer(tok2vec: Model[list[Doc], list[Rows]], hidden_width: int = 256) -> Model:
    """Return the model, for `@architectures = "spacy_incparse.SpanScorer.v1"`.

    tok2vec: any layer from Docs to vectors of tokens, such as `spacy.HashEmbedCNN.v2`, `spacy.Tok2VecListener.v1` or
        the listener of a transformer.
    hidden_width: the width of the layer between the vectors and the scores.
    """
    head = span_head(hidden_width)
    return Model("span_scorer", _forward, init=_init, layers=[tok2vec, head], refs={"tok2vec": tok2vec, "head": head})


def cut_vectors(model: Model, given: CutDocs) -> list[Rows]:
    """Return the vectors of the words of each sentence; the Docs go through the layer together."""
    vectors = model.layers[0].predict(given.docs)
    return [rows[_index(cut)] for rows, cuts in zip(vectors, given.sentences, strict=True) for cut in cuts]


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
    tok2vec, head = model.layers
    vectors, from_vectors = tok2vec(given.docs, is_train)
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
        return from_vectors(found)

    return scores, backprop


def _init(model: Model, X: CutDocs | None = None, Y: SpanScores | None = None) -> Model:  # noqa: N803  # thinc's
    tok2vec, head = model.layers
    tok2vec.initialize(X.docs if X is not None else None)
    if tok2vec.has_dim("nO"):
        head.set_dim("nI", tok2vec.get_dim("nO"))
    elif X is not None:
        head.set_dim("nI", tok2vec.predict(X.docs[:SAMPLE_DOCS])[0].shape[1])
    head.initialize()
    return model


def _index(cut: Sequence[int]) -> Any:
    """Return what selects the rows of a sentence's tokens."""
    return slice(cut.start, cut.stop) if isinstance(cut, range) else np.asarray(cut)


def _split(rows: Any, ends: np.ndarray) -> list[Any]:
    return [rows[first:last] for first, last in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)]
