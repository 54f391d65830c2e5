"""The model of `incparse_neural`: any layer that gives vectors of tokens, and a head that scores spans."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from spacy.ml.models.tok2vec import MultiHashEmbed
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Model

from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.neural.network import (
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
EMBEDDING = "extract_features"  # the layer that all of spaCy's own begin with; it also reads parts of Docs
BY_SENTENCE = "by_sentence"  # whether layers read sentences, so that no vector depends on the sentences around it
FORM_ROWS = {"SHAPE": 500, "PREFIX": 500, "SUFFIX": 2000}  # spaCy's: Xxxxx, the first character, the last three


# `Span.to_array` takes no names of attributes, as those layers give them, and `Span.as_doc` copies the whole Doc.


class DocPart:
    """Consecutive tokens of a Doc, with all that spaCy's embedding layers read of a Doc."""

    def __init__(self, arrays: DocArrays, start: int, end: int):
        self._arrays, self.start, self.end = arrays, start, end

    def __len__(self) -> int:
        return self.end - self.start

    @property
    def vocab(self) -> Vocab:
        """The vocabulary of the Doc, which has the static vectors."""
        return self._arrays.doc.vocab

    def to_array(self, attributes: int | list[int | str]) -> Any:
        """Return attributes of the tokens, as `Doc.to_array`."""
        return self._arrays.made("to_array", attributes)[self.start : self.end]

    def to_utf8_array(self, nr_char: int = -1) -> Any:
        """Return the first and last characters of the tokens, as `Doc.to_utf8_array`."""
        return self._arrays.made("to_utf8_array", nr_char)[self.start : self.end]


Texts = list[Doc] | list[DocPart]
Place = tuple[int, Any]
"""Where a sentence is: the number of the text, and the index of its words among the tokens of the text."""


@dataclass
class CutDocs:
    """Whole Docs, as listeners need them, and the tokens of the sentences in each: lists of token indices."""

    docs: list[Doc]
    sentences: list[list[Sequence[int]]]


def create_span_scorer(tok2vec: Model[list[Doc], list[Rows]], hidden_width: int = 256, form_width: int = 0) -> Model:
    """Return the model, for `@architectures = "spacy_incparse.SpanScorer.v1"`.

    tok2vec: any layer from Docs to vectors of tokens, such as `spacy.HashEmbedCNN.v2`, `spacy.Tok2VecListener.v1` or
        the listener of a transformer. Layers of spaCy that no other component shares read one sentence at a time.
    hidden_width: the width of the layer between the vectors and the scores.
    form_width: the width of a learned vector of each token's shape, first character and last three, beside that of
        `tok2vec`; 0: none. Good for layers that do not see capitals, such as uncased transformers.
    """
    check_number("hidden_width", hidden_width, 1, MOST)
    check_number("form_width", form_width, 0, MOST)
    head = span_head(hidden_width)
    layers: list[Model] = [tok2vec, head]
    if form_width:
        layers.append(MultiHashEmbed(form_width, list(FORM_ROWS), list(FORM_ROWS.values()), False))
    # An attribute, which is saved: a listener that `nlp.replace_listeners` replaces later has learned from whole Docs.
    attrs = {BY_SENTENCE: any(node.name == EMBEDDING for node in tok2vec.walk())}
    refs: dict[str, Model | None] = {"tok2vec": tok2vec, "head": head}
    return Model("span_scorer", _forward, init=_init, layers=layers, refs=refs, attrs=attrs)


def own_layers(model: Model) -> list[Model]:
    """Return the layers of a model that it does not share with other components."""
    return _without(model, "tok2vec")


def cut_vectors(model: Model, given: CutDocs) -> list[Rows]:
    """Return the vectors of the words of each sentence; the Docs go through the layer together."""
    given_texts = _texts(model, given)
    return _side_by_side(model, [_words(layer, *given_texts, False)[0] for layer in _without(model, "head")])


def score_tolerance(model: Model) -> float:
    """Return by how much the scores of one tree may differ between two runs of a model, in batches of different sizes.

    Transformers may compute in half precision, whether they are layers of the model or of another component.
    """
    from spacy_incparse.neural.span_parser import SINGLE_PRECISION

    layers = model.get_ref("tok2vec").walk()
    return HALF_PRECISION if any(layer.shims or reads_transformer(layer) for layer in layers) else SINGLE_PRECISION


class ModelScorer:
    """Scores the spans of sentences, given the vectors of their words, with the head of a trained model."""

    def __init__(self, model: Model):
        self._head: Model = model.get_ref("head")

    def read(self, vectors: Sequence[Rows]) -> tuple[list[Rows], list[np.ndarray]]:
        """Return the fenceposts of each sentence, and the numbers of its words' best tags."""
        head, ops = self._head, self._head.ops
        given = WordVectors(ops.xp.concatenate(vectors), [len(rows) for rows in vectors])
        fences = fenceposts(head, given)
        tags = ops.to_numpy(tag_scores(head, given).argmax(axis=1))
        words = np.cumsum(given.lengths)
        posts = words + np.arange(1, len(words) + 1)
        return _split(fences, posts), _split(tags, words)

    def label_scores(self, pieces: Sequence[Any]) -> list[np.ndarray]:
        """Return the scores of the labels of each sentence, given its fenceposts."""
        head, ops = self._head, self._head.ops
        lengths = [len(piece) - 1 for piece in pieces]
        scores = ops.to_numpy(label_scores(head, ops.xp.concatenate(pieces), lengths))
        return _split(scores, np.cumsum([length * (length + 1) // 2 for length in lengths]))


def _forward(model: Model, given: CutDocs, is_train: bool) -> tuple[SpanScores, Callable[[SpanScores], list]]:
    head = model.get_ref("head")
    given_texts = _texts(model, given)
    called = [_words(layer, *given_texts, is_train) for layer in _without(model, "head")]
    vectors = _side_by_side(model, [rows for rows, _ in called])
    joined = model.ops.xp.concatenate(vectors) if vectors else model.ops.alloc2f(0, head.get_dim("nI"))
    scores, from_scores = head(WordVectors(joined, [len(rows) for rows in vectors]), is_train)

    def backprop(gradient: SpanScores) -> list:
        ends = np.cumsum([len(rows) for rows in vectors])
        of_words = _split(from_scores(gradient).vectors, ends)
        found, first = [], 0
        for rows, from_vectors in called:  # each layer gets the part that belongs to its vectors
            last = first + (rows[0].shape[1] if rows else 0)
            found.append(from_vectors([one[:, first:last] for one in of_words]))
            first = last
        return found[0]

    return scores, backprop


def _side_by_side(model: Model, parts: Sequence[Sequence[Rows]]) -> list[Rows]:
    """Join the vectors of several layers. Raises ConfigError if their width is not that of the model."""
    vectors, head = [model.ops.xp.hstack(rows) for rows in zip(*parts, strict=True)], model.get_ref("head")
    if vectors and head.has_dim("nI") and vectors[0].shape[1] != head.get_dim("nI"):
        raise ConfigError(
            f"the vectors of words have {vectors[0].shape[1]} dimensions, and the model needs {head.get_dim('nI')}: "
            f"the width of a listener must be that of the layer it listens to"
        )
    return vectors


def _texts(model: Model, given: CutDocs) -> tuple[Texts, list[Place]]:
    """Return what the layers read, Docs or sentences, and the place of each sentence in it."""
    cuts = [(number, cut) for number, cuts in enumerate(given.sentences) for cut in cuts]
    if not cuts or not model.attrs[BY_SENTENCE]:
        return given.docs, [(number, _index(cut)) for number, cut in cuts]
    arrays = [DocArrays(doc) for doc in given.docs]
    parts = [DocPart(arrays[number], cut[0], cut[-1] + 1) for number, cut in cuts]
    return parts, [(i, _index(cut, cut[0])) for i, (_, cut) in enumerate(cuts)]


def _words(
    layer: Model, texts: Texts, places: Sequence[Place], is_train: bool
) -> tuple[list[Rows], Callable[[list[Rows]], list]]:
    """Return the vectors of the words of each sentence, and a function for their gradient."""
    found, from_texts = layer(texts, is_train)

    def backprop(gradient: list[Rows]) -> list:
        of_texts = [layer.ops.alloc2f(*rows.shape) for rows in found]
        for (text, index), rows in zip(places, gradient, strict=True):
            of_texts[text][index] += rows
        return from_texts(of_texts)

    return [found[text][index] for text, index in places], backprop


def _without(model: Model, name: str) -> list[Model]:
    return [layer for layer in model.layers if layer is not model.get_ref(name)]


def _init(model: Model, X: CutDocs | None = None, Y: SpanScores | None = None) -> Model:  # noqa: N803  # thinc's
    docs, head = X.docs if X is not None else None, model.get_ref("head")
    layers = _without(model, "head")
    for layer in layers:
        layer.initialize(docs)
    if all(layer.has_dim("nO") for layer in layers):
        head.set_dim("nI", sum(layer.get_dim("nO") for layer in layers))
    elif docs is not None:
        head.set_dim("nI", sum(layer.predict(docs[:SAMPLE_DOCS])[0].shape[1] for layer in layers))
    head.initialize()
    return model


def _index(cut: Sequence[int], first: int = 0) -> Any:
    """Return what selects the rows of a sentence's tokens, if those of the token `first` are the first ones."""
    return slice(cut.start - first, cut.stop - first) if isinstance(cut, range) else np.asarray(cut) - first


def _split(rows: Any, ends: np.ndarray) -> list[Any]:
    return [rows[first:last] for first, last in pairwise([0, *ends.tolist()])]


class DocArrays:
    """The arrays of a Doc, each made once for all of its parts."""

    def __init__(self, doc: Doc):
        self.doc = doc
        self._made: dict[tuple[str, str], Any] = {}

    def made(self, method: str, argument: Any) -> Any:
        """Return the array that a method of the Doc makes."""
        key = (method, str(argument))
        if key not in self._made:
            self._made[key] = getattr(self.doc, method)(argument)
        return self._made[key]


# For a Doc without vectors a listener returns zeros, and a parser would make a tree of them.


def check_listened(layer: Model, docs: Iterable[Doc], name: str) -> None:
    """Raise IncparseError if a listener in a layer finds no vectors on one of the Docs.

    name: of the component whose layer it is, for the message.
    """
    places = {place for node in layer.walk() for place, (reads, _) in _LISTENERS.items() if reads(node)}
    for doc in docs:
        for place in sorted(places):
            if len(doc) and not _LISTENERS[place][1](doc):
                start = " ".join(token.text for token in doc[:8])
                raise IncparseError(
                    f"{name}: the Doc {start!r} has no word vectors ({place}). The component that computes them has to "
                    f"run before {name}, in training as one of the annotating_components. If it did, they are gone: "
                    f"doc_cleaner removes them, and a DocBin does not keep all of them. Process the text again"
                )


def reads_transformer(layer: Model) -> bool:
    """Return whether a layer is a listener to the transformer of another component."""
    return layer.name == "transformer-listener" or "_TRANSFORMER_LISTENER" in layer.attrs


# Those of spaCy, of spacy-transformers and of spacy-curated-transformers, without a transformer of their own. They are
# known by names, since these packages may not be installed.
# By place: whether a layer reads the vectors there, and whether a Doc has them.
_LISTENERS: dict[str, tuple[Callable[[Model], bool], Callable[[Doc], bool]]] = {
    "doc.tensor": (lambda node: node.name == "tok2vec-listener", lambda doc: doc.tensor.size > 0),
    "doc._.trf_data": (reads_transformer, lambda doc: Doc.has_extension("trf_data") and doc._.trf_data is not None),
}
