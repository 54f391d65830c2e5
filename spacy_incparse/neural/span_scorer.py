"""The model of `incparse_neural`: any layer that gives vectors of tokens, and a head that scores spans."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from spacy.ml.models.tok2vec import MultiHashEmbed
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Dropout, Linear, Model, Ops, chain
from thinc.layers.resizable import resize_linear_weighted

from spacy_incparse.chart.charts import span_bounds
from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.settings import MOST, check_number

BLOCK_SPANS = 512  # whose hidden layers fit into a processor's cache; a GPU takes more at once
GPU_BLOCK_SPANS = 1 << 15
EPSILON = 1e-5  # added to variances
# By how much the scores of trees differ between two runs: they are sums in single precision, which depend on the batch;
# if vectors are in bfloat16, several times what was seen.
SINGLE_PRECISION, HALF_PRECISION = 1e-2, 1.0
SAMPLE_DOCS = 3  # to find the width of vectors, if the layer does not say it
# What all of spaCy's own layers begin with, and the transformer of `packed.py`: they also read parts of Docs.
PART_READERS = ("extract_features", "packed_encoder")
BY_SENTENCE = "by_sentence"  # whether layers read sentences, so that no vector depends on the sentences around it
FORM_ROWS = {"SHAPE": 500, "PREFIX": 500, "SUFFIX": 2000}  # spaCy's: Xxxxx, the first character, the last three

Rows = Any
"""float32 (rows, columns), an array of the model's ops: on a processor or a GPU."""


@dataclass
class WordVectors:
    """The vectors of the words of sentences, joined, and the number of words of each sentence."""

    vectors: Rows
    lengths: Sequence[int]


@dataclass
class SpanScores:
    """The scores of labels, (n_spans, n_labels), and of tags, (n_words, n_tags), of sentences, joined.

    Spans are in the order of `neural.bracket_chart`.
    """

    labels: Rows
    tags: Rows
    lengths: Sequence[int]


def span_head(hidden_width: int) -> Model[WordVectors, SpanScores]:
    """Return the layer; the numbers of labels and tags are set later, by `set_outputs`.

    A *fencepost* k stands between the words k - 1 and k; its vector is f(k) = A y(k - 1) + B y(k), with a learned
    vector in place of the word before the first and after the last one. A span from i to j has the scores

        V relu(layer_norm(f(j) - f(i))) + d        (Stern et al. 2017, section 4.1; Kitaev & Klein 2018, section 2.1)

    Since the first layer is linear, it is applied to words, not to spans, and so is the mean that layer normalization
    takes away: a span costs one subtraction, its variance and a product with the small matrix V. The backward pass
    computes the hidden layer again for the spans that have a gradient, so that memory grows with the number of words,
    except for the scores themselves.
    """
    project: Model = Linear(nO=2 * hidden_width)
    labels: Model = Linear(nI=hidden_width)
    tags: Model = Linear()
    return Model(
        "span_head",
        _score,
        init=_init_head,
        dims={"nI": None, "nH": hidden_width},
        params={"gain": None, "bias": None, "boundary": None},
        layers=[chain(Dropout(), project), labels, chain(Dropout(), tags)],
        refs={"project": project, "labels": labels, "tags": tags},
    )


def set_outputs(head: Model, n_labels: int, n_tags: int) -> None:
    """Set the numbers of labels and tags, before the layer is initialized."""
    head.get_ref("labels").set_dim("nO", n_labels)
    head.get_ref("tags").set_dim("nO", n_tags)


def grow_outputs(head: Model, n_labels: int, n_tags: int) -> None:
    """Add outputs for labels and tags to an initialized layer, after those it has.

    The score of a new output is the mean of those that were learned. So it is never the best one, and a label is nearly
    always worse than no phrase, since most labels are wrong for a span.
    """
    for name, number in (("labels", n_labels), ("tags", n_tags)):
        layer = head.get_ref(name)
        learned = {param: head.ops.xp.mean(layer.get_param(param), axis=0) for param in ("W", "b")}
        head.replace_node(layer, resize_linear_weighted(layer, number, fill_defaults=learned))


class ModelScorer:
    """Scores the spans of sentences, given the vectors of their words, with the head of a trained model."""

    def __init__(self, model: Model):
        self._head: Model = model.get_ref("head")

    def read(self, vectors: Sequence[Rows]) -> tuple[list[Rows], list[np.ndarray]]:
        """Return the fenceposts of each sentence, and the numbers of its words' best tags."""
        head, ops = self._head, self._head.ops
        joined, lengths = ops.xp.concatenate(vectors), [len(rows) for rows in vectors]
        fences = _fenceposts(head, head.layers[0].predict(joined), lengths)
        tags = ops.to_numpy(head.layers[2].predict(joined).argmax(axis=1))
        words = np.cumsum(lengths)
        return _split(fences, words + np.arange(1, len(words) + 1)), _split(tags, words)

    def label_scores(self, pieces: Sequence[Any]) -> list[np.ndarray]:
        """Return the scores of the labels of each sentence, given its fenceposts: float32 (n_spans, n_labels)."""
        head, ops = self._head, self._head.ops
        lengths = [len(piece) - 1 for piece in pieces]
        scores = ops.to_numpy(_label_scores(head, ops.xp.concatenate(pieces), lengths))
        return _split(scores, np.cumsum([length * (length + 1) // 2 for length in lengths]))


def _label_scores(head: Model, fences: Rows, lengths: Sequence[int]) -> Rows:
    """Return the scores of all spans' labels, given the vectors of fenceposts."""
    labels = head.get_ref("labels")
    weights, bias = labels.get_param("W"), labels.get_param("b")
    starts, ends = _spans(lengths)
    scores: Rows = head.ops.alloc2f(len(starts), labels.get_dim("nO"), zeros=False)
    for block in _blocks(head.ops, len(starts)):
        hidden, _ = _normal(head.ops, fences, starts[block], ends[block])
        scores[block] = _activated(head, hidden) @ weights.T
    scores += bias
    return scores


def _init_head(head: Model, X: WordVectors | None = None, Y: SpanScores | None = None) -> Model:  # noqa: N803  # thinc's
    if X is not None:
        head.set_dim("nI", X.vectors.shape[1])
    width, ops = head.get_dim("nH"), head.ops
    for name in ("project", "tags"):
        head.get_ref(name).set_dim("nI", head.get_dim("nI"))
    for layer in head.layers:
        layer.initialize()
    head.set_param("gain", ops.alloc1f(width) + 1)
    head.set_param("bias", ops.alloc1f(width))
    head.set_param("boundary", ops.alloc2f(2, width))
    return head


def _score(head: Model, given: WordVectors, is_train: bool) -> tuple[SpanScores, Callable[[SpanScores], WordVectors]]:
    lengths = given.lengths
    projected, from_projected = head.layers[0](given.vectors, is_train)
    tags, from_tags = head.layers[2](given.vectors, is_train)
    fences = _fenceposts(head, projected, lengths)

    def backprop(gradient: SpanScores) -> WordVectors:
        of_fences = _from_labels(head, fences, gradient.labels, lengths)
        vectors = from_projected(_from_fenceposts(head, of_fences, lengths))
        vectors += from_tags(gradient.tags)
        return WordVectors(vectors, lengths)

    return SpanScores(_label_scores(head, fences, lengths), tags, lengths), backprop


def _fenceposts(head: Model, projected: Rows, lengths: Sequence[int]) -> Rows:
    """Return the vectors of the fenceposts of sentences, joined: one more than words for each sentence; means are 0."""
    width = head.get_dim("nH")
    before, first, last = _places(lengths)
    fences: Rows = head.ops.alloc2f(len(before) + len(lengths), width)
    boundary: Rows = head.get_param("boundary")
    fences[before + 1] += projected[:, :width]
    fences[before] += projected[:, width:]
    fences[first] += boundary[0]
    fences[last] += boundary[1]
    fences -= fences.mean(axis=1, keepdims=True)
    return fences


def _from_fenceposts(head: Model, gradient: Rows, lengths: Sequence[int]) -> Rows:
    before, first, last = _places(lengths)
    gradient = gradient - gradient.mean(axis=1, keepdims=True)
    of_boundary = head.ops.xp.stack([gradient[first].sum(axis=0), gradient[last].sum(axis=0)])
    head.inc_grad("boundary", of_boundary)
    return head.ops.xp.concatenate([gradient[before + 1], gradient[before]], axis=1)


def _from_labels(head: Model, fences: Rows, gradient: Rows, lengths: Sequence[int]) -> Rows:
    """Return the gradient of the fenceposts, and add those of the weights."""
    labels, ops = head.get_ref("labels"), head.ops
    weights = labels.get_param("W")
    found: Rows = ops.alloc2f(*fences.shape)
    starts, ends = _spans(lengths)
    used = np.flatnonzero(ops.to_numpy(gradient.any(axis=1)))
    for block in _blocks(ops, len(used)):
        rows = used[block]
        here = gradient[rows]
        normal, scale = _normal(ops, fences, starts[rows], ends[rows])
        activation = _activated(head, normal.copy())
        labels.inc_grad("W", here.T @ activation)
        labels.inc_grad("b", here.sum(axis=0))
        hidden = here @ weights
        hidden *= activation > 0
        head.inc_grad("bias", hidden.sum(axis=0))
        head.inc_grad("gain", (hidden * normal).sum(axis=0))
        hidden *= head.get_param("gain")
        hidden -= normal * (hidden * normal).mean(axis=1, keepdims=True)
        hidden *= scale
        _add_rows(ops, found, ends[rows], hidden)
        by_start = np.argsort(starts[rows], kind="stable")
        _add_rows(ops, found, starts[rows][by_start], -hidden[by_start])
    return found


def _normal(ops: Ops, fences: Rows, starts: np.ndarray, ends: np.ndarray) -> tuple[Rows, Rows]:
    """Return the differences of fenceposts with variance 1, and the factors that did this, (n_spans, 1)."""
    spans = _take(ops, fences, ends)
    spans -= _take(ops, fences, starts)
    scale = ops.xp.einsum("ij,ij->i", spans, spans)[:, None]
    scale /= spans.shape[1]
    scale += EPSILON
    scale **= -0.5
    spans *= scale
    return spans, scale


def _activated(head: Model, normal: Rows) -> Rows:
    """Return the hidden layer, in the place of its normalized input."""
    normal *= head.get_param("gain")
    normal += head.get_param("bias")
    return head.ops.xp.maximum(normal, 0, out=normal)


def _take(ops: Ops, table: Rows, rows: np.ndarray) -> Rows:
    if ops.xp is np:
        return table.take(rows, axis=0, mode="clip")  # several times as fast as with a check of all numbers
    return table[ops.xp.asarray(rows)]


def _add_rows(ops: Ops, found: Rows, places: np.ndarray, rows: Rows) -> None:
    """Add rows to the places they belong to, which are ascending."""
    lowest = int(places[0])
    counts: Any = np.bincount(places - lowest).astype(np.int32)
    found[lowest : lowest + len(counts)] += ops.reduce_sum(rows, ops.asarray1i(counts))


def _places(lengths: Sequence[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the fencepost before each word, and the first and the last fencepost of each sentence."""
    sizes = np.asarray(lengths, np.int64)
    last = np.cumsum(sizes + 1) - 1
    before = np.arange(sizes.sum()) + np.repeat(np.arange(len(sizes)), sizes)
    return before, last - sizes, last


def _spans(lengths: Sequence[int]) -> np.ndarray:
    """Return the fenceposts where the spans of all sentences start and end: int64 (2, n_spans)."""
    firsts = _places(lengths)[1]
    bounds = [_triangle(length) + first for length, first in zip(lengths, firsts, strict=True)]
    return np.concatenate([np.zeros((2, 0), np.int64), *bounds], axis=1)


@lru_cache(maxsize=100)
def _triangle(n_words: int) -> np.ndarray:
    return np.stack(span_bounds(np.arange(n_words * (n_words + 1) // 2)))


def _blocks(ops: Ops, n: int) -> Iterator[slice]:
    size = BLOCK_SPANS if ops.xp is np else GPU_BLOCK_SPANS
    return (slice(first, first + size) for first in range(0, n, size))


class DocPart:
    """Consecutive tokens of a Doc, with all that spaCy's embedding layers read of a Doc.

    `Span.to_array` takes no names of attributes, as those layers give them, and `Span.as_doc` copies the whole Doc.
    made: the arrays of the Doc, each made once for all of its parts.
    """

    def __init__(self, doc: Doc, start: int, end: int, made: dict[tuple[str, str], Any]):
        self._doc, self._rows, self._made = doc, slice(start, end), made

    def __len__(self) -> int:
        return self._rows.stop - self._rows.start

    @property
    def vocab(self) -> Vocab:
        """The vocabulary of the Doc, which has the static vectors."""
        return self._doc.vocab

    def to_array(self, attributes: int | list[int | str]) -> Any:
        """Return attributes of the tokens, as `Doc.to_array`."""
        return self._part("to_array", attributes)

    def to_utf8_array(self, nr_char: int = -1) -> Any:
        """Return the first and last characters of the tokens, as `Doc.to_utf8_array`."""
        return self._part("to_utf8_array", nr_char)

    def _part(self, method: str, argument: Any) -> Any:
        key = method, str(argument)
        if key not in self._made:
            self._made[key] = getattr(self._doc, method)(argument)
        return self._made[key][self._rows]


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
    attrs = {BY_SENTENCE: any(node.name in PART_READERS for node in tok2vec.walk())}
    refs: dict[str, Model | None] = {"tok2vec": tok2vec, "head": head}
    return Model("span_scorer", _forward, init=_init, layers=layers, refs=refs, attrs=attrs)


def layers_without(model: Model, name: str) -> list[Model]:
    """Return the layers of a model but "tok2vec", which it may share with other components, or "head"."""
    return [layer for layer in model.layers if layer is not model.get_ref(name)]


def cut_vectors(model: Model, given: CutDocs) -> list[Rows]:
    """Return the vectors of the words of each sentence; the Docs go through the layer together."""
    texts = _texts(model, given)
    return _side_by_side(model, [_words(layer, *texts, False)[0] for layer in layers_without(model, "head")])


def score_tolerance(model: Model) -> float:
    """Return by how much the scores of one tree may differ between two runs of a model, in batches of different sizes.

    Transformers may compute in half precision, whether they are layers of the model or of another component.
    """
    layers = model.get_ref("tok2vec").walk()
    return HALF_PRECISION if any(layer.shims or reads_transformer(layer) for layer in layers) else SINGLE_PRECISION


def _forward(model: Model, given: CutDocs, is_train: bool) -> tuple[SpanScores, Callable[[SpanScores], list]]:
    head, texts = model.get_ref("head"), _texts(model, given)
    called = [_words(layer, *texts, is_train) for layer in layers_without(model, "head")]
    vectors = _side_by_side(model, [rows for rows, _ in called])
    joined = model.ops.xp.concatenate(vectors) if vectors else model.ops.alloc2f(0, head.get_dim("nI"))
    scores, from_scores = head(WordVectors(joined, [len(rows) for rows in vectors]), is_train)

    def backprop(gradient: SpanScores) -> list:
        of_words = _split(from_scores(gradient).vectors, np.cumsum([len(rows) for rows in vectors]))
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
        return given.docs, [(number, _index(cut, 0)) for number, cut in cuts]
    made: list[dict] = [{} for _ in given.docs]
    parts = [DocPart(given.docs[number], cut[0], cut[-1] + 1, made[number]) for number, cut in cuts]
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


def _init(model: Model, X: CutDocs | None = None, Y: SpanScores | None = None) -> Model:  # noqa: N803  # thinc's
    docs, head = X.docs if X is not None else None, model.get_ref("head")
    layers = layers_without(model, "head")
    for layer in layers:
        layer.initialize(docs)
    if all(layer.has_dim("nO") for layer in layers):
        head.set_dim("nI", sum(layer.get_dim("nO") for layer in layers))
    elif docs is not None:
        head.set_dim("nI", sum(layer.predict(docs[:SAMPLE_DOCS])[0].shape[1] for layer in layers))
    head.initialize()
    return model


def _index(cut: Sequence[int], first: int) -> Any:
    """Return what selects the rows of a sentence's tokens, if those of the token `first` are the first ones."""
    return slice(cut.start - first, cut.stop - first) if isinstance(cut, range) else np.asarray(cut) - first


def _split(rows: Any, ends: np.ndarray) -> list[Any]:
    return [rows[first:last] for first, last in pairwise([0, *ends.tolist()])]


def check_listened(layer: Model, docs: Iterable[Doc], name: str) -> None:
    """Raise IncparseError if a listener in a layer finds no vectors on one of the Docs: it would return zeros.

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


# By place: whether a layer reads the vectors there, and whether a Doc has them. Those of spaCy, of spacy-transformers
# and of spacy-curated-transformers are known by names, since these packages may not be installed.
_LISTENERS: dict[str, tuple[Callable[[Model], bool], Callable[[Doc], bool]]] = {
    "doc.tensor": (lambda node: node.name == "tok2vec-listener", lambda doc: doc.tensor.size > 0),
    "doc._.trf_data": (reads_transformer, lambda doc: Doc.has_extension("trf_data") and doc._.trf_data is not None),
}
