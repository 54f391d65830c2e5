"""Spans of pieces that go through a transformer in groups of similar lengths, and what makes it fast on a processor.

The transformers of spacy-curated-transformers pad all spans of a batch to the longest. Where each Doc is a sentence, or
a few, most of what they compute would be padding. Their tables of embeddings have a gradient for each piece of the
vocabulary, whether or not a batch has it; and they compute in single precision, except on a GPU.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache, partial
from typing import Any

import numpy as np
from thinc.api import Model

from spacy_incparse.errors import ConfigError
from spacy_incparse.pipeline.sentence_pieces import join_sentences
from spacy_incparse.settings import MOST, check_number, check_range


def create_sorted_spans(
    stride: int = 96,
    window: int = 128,
    batch_size: int = 384,
    least_fill: float = 0.8,
    freeze_embeddings: bool = False,
    bfloat16: bool = False,
) -> Callable[..., Model]:
    """Return what cuts Docs into spans, for `@architectures = "spacy_incparse.WithSortedSpans.v1"`.

    stride, window: as in `spacy-curated-transformers.WithStridedSpans.v1`, with which the results are the same.
    batch_size: the most spans that go through the transformer at a time.
    least_fill: the least length of these, as a part of the longest one's: the rest is padding. A GPU may be faster with
        larger groups, that is, with a lower value.
    freeze_embeddings: whether the vectors of pieces and places stay as they are in training, which is faster.
    bfloat16: whether a processor that has instructions for it (AVX-512 BF16 or AMX) computes products of matrices in
        bfloat16, which is faster; the weights stay in single precision. Without effect elsewhere.
    """
    check_number("batch_size", batch_size, 1, MOST)
    check_range("least_fill", least_fill, 0, 1)

    def with_spans(transformer: Model, **dimensions: Any) -> Model:
        from spacy_curated_transformers.models.with_strided_spans import with_strided_spans

        if transformer.ops.xp is np:
            _use_single_precision(transformer)
        if freeze_embeddings:
            _freeze_embeddings(transformer)
        grouped = by_length(transformer, batch_size, least_fill, bfloat16=bfloat16)
        return join_sentences(with_strided_spans(grouped, stride=stride, window=window, batch_size=MOST))

    return with_spans


def by_length(transformer: Model, batch_size: int, least_fill: float, *, bfloat16: bool = False) -> Model:
    """Return a layer that hands its input, a list of arrays, to another one in groups of similar lengths."""
    attrs = {"batch_size": batch_size, "least_fill": least_fill}
    forward = partial(_forward, bfloat16)  # no attribute, which would be saved with the weights and outlive the config
    return Model("by_length", forward, init=_init, layers=[transformer], attrs=attrs)


def length_groups(lengths: Sequence[int], batch_size: int, least_fill: float) -> list[np.ndarray]:
    """Return the places of lengths in groups, longest first; see `create_sorted_spans`."""
    order = np.argsort(-np.asarray(lengths, np.int64), kind="stable")
    groups, first = [], 0
    for place, number in enumerate(order.tolist()):
        if place - first == batch_size or lengths[number] < least_fill * lengths[order[first]]:
            groups.append(order[first:place])
            first = place
    return [*groups, order[first:]] if len(order) else []


def _forward(
    bfloat16: bool, model: Model, spans: list[Any], is_train: bool
) -> tuple[Any, Callable[[list[Any]], list[Any]]]:
    (transformer,) = model.layers
    _limit_threads(os.getpid())
    groups = length_groups([len(span) for span in spans], model.attrs["batch_size"], model.attrs["least_fill"])
    with _precision(bfloat16):
        found = [transformer([spans[i] for i in group], is_train) for group in groups]

    def backprop(gradient: list[Any]) -> list[Any]:
        parts = []
        for group, (_, back) in zip(groups, found, strict=True):
            with _gradients_aside(transformer):
                parts.append(back([gradient[i] for i in group]))
        return _restored(parts, groups)

    output = found[0][0]
    outputs = _restored([one.all_outputs for one, _ in found], groups)
    return type(output)(outputs=outputs, last_layer_only=output.last_layer_only), backprop


@contextmanager
def _gradients_aside(transformer: Model) -> Iterator[None]:
    """Add the gradients of the context to those before it, if precision is mixed.

    Then thinc scales the gradient, and scales those of all weights back after each backward pass, also what they have
    from passes before.
    """
    shims = _scaling_shims(transformer)
    weights = [weight for shim in shims if shim._grad_scaler._enabled for weight in shim._model.parameters()]
    before = [weight.grad for weight in weights]
    for weight in weights:
        weight.grad = None
    yield
    for weight, gradient in zip(weights, before, strict=True):
        if gradient is not None:
            weight.grad = gradient if weight.grad is None else weight.grad + gradient


@cache
def _limit_threads(process: int) -> None:
    """Compute with one thread in a worker of `nlp.pipe(n_process=2)`: PyTorch would wait for the parent's threads.

    process: the number of this process. A forked worker has the caches of its parent.
    """
    if multiprocessing.parent_process() is not None:
        import torch

        torch.set_num_threads(1)


def _precision(bfloat16: bool) -> AbstractContextManager:
    """Return the context in which a transformer and its backward pass are computed: bfloat16 where that is fast."""
    import torch

    return torch.autocast("cpu", dtype=torch.bfloat16) if bfloat16 and computes_in_bfloat16() else nullcontext()


@cache
def computes_in_bfloat16() -> bool:
    """Return whether the processor has instructions for bfloat16: emulation would be slower than single precision."""
    import torch

    names = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")  # not public; older versions lack some
    return any(getattr(torch.cpu, name, bool)() for name in names)


def _use_single_precision(transformer: Model) -> None:
    """Ignore `mixed_precision` in the config of a pipeline that learned on a GPU: thinc cannot train so on a CPU."""
    for shim in _scaling_shims(transformer):
        shim._mixed_precision = shim._grad_scaler._enabled = False


def _scaling_shims(transformer: Model) -> list[Any]:
    return [shim for node in transformer.walk() for shim in node.shims if hasattr(shim, "_grad_scaler")]


def _freeze_embeddings(transformer: Model) -> None:
    """Take the tables of embeddings out of training. Raises ConfigError if there are none."""
    import torch

    tables = [
        part for shim in transformer.shims for part in shim._model.modules() if isinstance(part, torch.nn.Embedding)
    ]
    if not tables:
        raise ConfigError("freeze_embeddings = true needs a transformer with tables of embeddings; this one has none")
    for table in tables:
        table.weight.requires_grad_(False)


def _restored(parts: Sequence[Sequence[Any]], groups: Sequence[np.ndarray]) -> list[Any]:
    """Return the items of all groups in the order of the spans."""
    items = [item for part in parts for item in part]
    return [items[i] for i in np.argsort(np.concatenate(groups), kind="stable").tolist()]


def _init(model: Model, X: Any = None, Y: Any = None) -> Model:  # noqa: N803  # thinc passes them by name
    model.layers[0].initialize(X=X, Y=Y)
    return model
