"""The thinc layer that turns the vectors of words into scores of spans and of tags.

A *fencepost* k stands between the words k - 1 and k; its vector is f(k) = A y(k - 1) + B y(k), with a learned vector in
place of the word before the first and after the last one. A span from i to j has the scores

    V relu(layer_norm(f(j) - f(i))) + d        (Stern et al. 2017, section 4.1; Kitaev & Klein 2018, section 2.1)

Since the first layer is linear, it is applied to words, not to spans, and so is the mean that layer normalization takes
away: a span costs one subtraction, its variance and a product with the small matrix V. The backward pass computes the
hidden layer again for the spans that have a gradient, so that memory grows with the number of words, except for the
scores themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from thinc.api import Dropout, Linear, Model, Ops, chain
from thinc.layers.resizable import resize_linear_weighted

from spacy_incparse.chart.sentence import span_bounds

BLOCK_SPANS = 512  # whose hidden layers fit into a processor's cache; a GPU takes more at once
GPU_BLOCK_SPANS = 1 << 15
EPSILON = 1e-5  # added to variances

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

    Spans are in the order of `chart.spans.bracket_chart`.
    """

    labels: Rows
    tags: Rows
    lengths: Sequence[int]


def span_head(hidden_width: int) -> Model[WordVectors, SpanScores]:
    """Return the layer; the numbers of labels and tags are set later, by `set_outputs`."""
    project: Model = Linear(nO=2 * hidden_width)
    labels: Model = Linear(nI=hidden_width)
    tags: Model = Linear()
    return Model(
        "span_head",
        _forward,
        init=_init,
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


def fenceposts(head: Model, given: WordVectors) -> Rows:
    """Return the vectors of the fenceposts of sentences, joined: one more than words for each sentence; means are 0."""
    return _fenceposts(head, head.layers[0].predict(given.vectors), given.lengths)


def tag_scores(head: Model, given: WordVectors) -> Rows:
    """Return the scores of the tags of words."""
    return head.layers[2].predict(given.vectors)


def label_scores(head: Model, fences: Rows, lengths: Sequence[int]) -> Rows:
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


def _init(head: Model, X: WordVectors | None = None, Y: SpanScores | None = None) -> Model:  # noqa: N803  # thinc's
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


def _forward(head: Model, given: WordVectors, is_train: bool) -> tuple[SpanScores, Callable[[SpanScores], WordVectors]]:
    lengths = given.lengths
    projected, from_projected = head.layers[0](given.vectors, is_train)
    tags, from_tags = head.layers[2](given.vectors, is_train)
    fences = _fenceposts(head, projected, lengths)

    def backprop(gradient: SpanScores) -> WordVectors:
        of_fences = _from_labels(head, fences, gradient.labels, lengths)
        vectors = from_projected(_from_fenceposts(head, of_fences, lengths))
        vectors += from_tags(gradient.tags)
        return WordVectors(vectors, lengths)

    return SpanScores(label_scores(head, fences, lengths), tags, lengths), backprop


def _fenceposts(head: Model, projected: Rows, lengths: Sequence[int]) -> Rows:
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
        along = (hidden * normal).mean(axis=1, keepdims=True)
        hidden -= normal * along
        hidden *= scale
        _add_rows(ops, found, ends[rows], hidden)
        by_start = np.argsort(starts[rows], kind="stable")
        _add_rows(ops, found, starts[rows][by_start], -hidden[by_start])
    return found


def _normal(ops: Ops, fences: Rows, starts: np.ndarray, ends: np.ndarray) -> tuple[Rows, Rows]:
    """Return the differences of fenceposts with variance 1, and the factors that did this, (n_spans, 1)."""
    xp = ops.xp
    spans = _take(ops, fences, ends)
    spans -= _take(ops, fences, starts)
    scale = xp.einsum("ij,ij->i", spans, spans)[:, None]
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


def _spans(lengths: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the fenceposts where the spans of all sentences start and end."""
    firsts = _places(lengths)[1]
    triangles = [_triangle(length) for length in lengths]
    starts = [first + triangle[0] for first, triangle in zip(firsts, triangles, strict=True)]
    ends = [first + triangle[1] for first, triangle in zip(firsts, triangles, strict=True)]
    none = [np.zeros(0, np.int64)]  # of no sentences
    return np.concatenate(starts or none), np.concatenate(ends or none)


@lru_cache(maxsize=100)
def _triangle(n_words: int) -> tuple[np.ndarray, np.ndarray]:
    return span_bounds(np.arange(n_words * (n_words + 1) // 2))


def _blocks(ops: Ops, n: int) -> Iterator[slice]:
    size = BLOCK_SPANS if ops.xp is np else GPU_BLOCK_SPANS
    return (slice(first, first + size) for first in range(0, n, size))
