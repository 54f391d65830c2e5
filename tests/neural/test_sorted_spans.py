"""Spans in groups of similar lengths, with a layer in the place of the transformer."""

import importlib.util
import multiprocessing

import numpy as np
import pytest
from thinc.api import Model

from spacy_incparse.errors import ConfigError
from spacy_incparse.neural import encoder as sorted_spans
from spacy_incparse.neural.encoder import (
    _freeze_embeddings,
    _limit_threads,
    by_length,
    create_sorted_spans,
    length_groups,
)
from tests.neural.conftest import examples
from tests.neural.tiny_encoder import needs_transformers, transformer_pipeline, write_encoder

LENGTHS = [3, 9, 4, 9, 1, 8, 3]


class Output:
    """As a transformer's output."""

    def __init__(self, *, outputs, last_layer_only):
        self.all_outputs, self.last_layer_only = outputs, last_layer_only


def noting(calls):
    """A layer that doubles arrays, and notes the lengths of each call, in both directions."""

    def forward(model, spans, is_train):
        calls.append([len(span) for span in spans])

        def backprop(gradient):
            calls.append([len(layers[0]) for layers in gradient])
            return [layers[0] * 3 for layers in gradient]

        return Output(outputs=[[2 * span] for span in spans], last_layer_only=True), backprop

    return Model("doubling", forward)


def test_groups_have_similar_lengths_and_every_place_once():
    groups = [group.tolist() for group in length_groups(LENGTHS, 10, 0.75)]
    assert groups == [[1, 3, 5], [2, 0, 6], [4]]
    assert [len(group) for group in length_groups(LENGTHS, 2, 0.75)] == [2, 1, 2, 1, 1]
    assert [group.tolist() for group in length_groups([5, 6], 10, 0)] == [[1, 0]]
    assert length_groups([], 10, 0.75) == []


def test_results_and_gradients_are_in_the_order_of_the_spans():
    calls, generator = [], np.random.default_rng(0)
    spans = [generator.normal(size=(length, 2)) for length in LENGTHS]
    output, backprop = by_length(noting(calls), 10, 0.75)(spans, is_train=True)
    assert all((found[0] == 2 * span).all() for found, span in zip(output.all_outputs, spans, strict=True))
    found = backprop([[span] for span in spans])
    assert all((gradient == 3 * span).all() for gradient, span in zip(found, spans, strict=True))
    assert calls == [[9, 9, 8], [4, 3, 3], [1]] * 2


def test_wrong_settings_are_reported():
    with pytest.raises(ConfigError, match="least_fill is 2"):
        create_sorted_spans(least_fill=2)
    with pytest.raises(ConfigError, match="batch_size is 0"):
        create_sorted_spans(batch_size=0)


@pytest.mark.skipif(
    importlib.util.find_spec("spacy_curated_transformers") is None,
    reason='needs pip install "spacy-incparse[transformers]" (PyTorch)',
)
def test_long_docs_are_cut_as_by_the_layer_of_spacy_curated_transformers():
    from spacy_curated_transformers.models.output import TransformerModelOutput
    from spacy_curated_transformers.models.with_strided_spans import with_strided_spans
    from thinc.api import Ragged

    def doubled(model, spans, is_train):
        rows = [[2.0 * np.stack([span, span + len(span)], axis=1).astype("f")] for span in spans]
        return TransformerModelOutput(outputs=rows, last_layer_only=True), lambda gradient: []

    docs = [Ragged(np.arange(n, dtype="i"), np.ones(n, "i")) for n in (3, 17, 9, 30)]
    layer = Model("doubled", doubled)
    expected = with_strided_spans(layer, stride=6, window=8, batch_size=3).predict(docs)
    found = create_sorted_spans(6, 8, 3)(layer).predict(docs)
    for a, b in zip(found.all_outputs, expected.all_outputs, strict=True):
        assert (a[0].dataXd == b[0].dataXd).all()


@pytest.fixture(scope="module")
def torch_layers():
    """A function that makes a small transformer with a table of embeddings, and its table."""
    torch = pytest.importorskip("torch", reason='needs pip install "spacy-incparse[transformers]" (PyTorch)')
    from thinc.api import PyTorchWrapper

    def make():
        torch.manual_seed(0)
        layers = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 4))
        return PyTorchWrapper(layers), layers

    return make


def test_embeddings_can_be_frozen(torch_layers):
    transformer, layers = torch_layers()
    _freeze_embeddings(transformer)
    assert [weights.requires_grad for weights in layers.parameters()] == [False, True, True]
    again = transformer.copy()
    transformer.from_bytes(again.to_bytes())  # as in a loaded pipeline
    assert not layers[0].weight.requires_grad


def test_a_transformer_without_embeddings_is_reported():
    pytest.importorskip("torch", reason='needs pip install "spacy-incparse[transformers]" (PyTorch)')
    with pytest.raises(ConfigError, match="freeze_embeddings = true needs a transformer"):
        _freeze_embeddings(noting([]))


def test_bfloat16_is_close_and_only_used_where_the_processor_has_it(torch_layers, monkeypatch):
    torch = pytest.importorskip("torch", reason='needs pip install "spacy-incparse[transformers]" (PyTorch)')
    _, layers = torch_layers()
    pieces = torch.arange(9)

    def forward(model, spans, is_train):
        return Output(outputs=[[layers(pieces)] for _ in spans], last_layer_only=True), list

    def found(bfloat16):
        saved = by_length(Model("layers", forward), 10, 0.75, bfloat16=not bfloat16).to_bytes()
        layer = by_length(Model("layers", forward), 10, 0.75, bfloat16=bfloat16).from_bytes(saved)  # the config decides
        (rows,) = layer.predict([[0]]).all_outputs
        return rows[0]

    exact = found(bfloat16=False)
    monkeypatch.setattr(sorted_spans, "computes_in_bfloat16", lambda: True)
    assert found(bfloat16=True).dtype == torch.bfloat16
    assert torch.allclose(found(bfloat16=True).float(), exact, atol=0.02)
    monkeypatch.setattr(sorted_spans, "computes_in_bfloat16", lambda: False)
    assert torch.equal(found(bfloat16=True), exact)


@needs_transformers
def test_gradients_in_mixed_precision_are_scaled_back_once(tmp_path, monkeypatch):
    """A scaler of 4 stands for that of a GPU; each length group is a backward pass of its own."""
    import torch
    from thinc.shims.pytorch_grad_scaler import PyTorchGradScaler

    def scaled(self, tensor, scales, inplace):
        return tensor.mul_(self._scale) if inplace else tensor * self._scale

    monkeypatch.setattr(PyTorchGradScaler, "_scale_tensor", scaled)
    folder = write_encoder(tmp_path)

    def gradient(scaler):
        nlp = transformer_pipeline(folder)
        model = nlp.get_pipe("transformer").model
        (shim,) = (shim for node in model.walk() for shim in node.shims)
        shim._grad_scaler = scaler
        for part in shim._model.modules():
            if isinstance(part, torch.nn.Dropout):
                part.p = 0.0
        calls = []
        monkeypatch.setattr(scaler, "unscale", lambda tensors, old=scaler.unscale: (calls.append(1), old(tensors))[1])
        nlp.update(examples(nlp, limit=12), sgd=False, drop=0.0)
        assert len(calls) > 1
        return torch.cat([weight.grad.flatten() for weight in shim._model.parameters() if weight.grad is not None])

    plain, mixed = (gradient(PyTorchGradScaler(enabled=enabled, init_scale=4.0)) for enabled in (False, True))
    assert torch.allclose(plain, mixed, rtol=1e-3, atol=1e-4 * float(plain.abs().max()))


def test_workers_compute_with_one_thread(monkeypatch):
    """With more, PyTorch would wait for threads that a forked process does not have."""
    torch = pytest.importorskip("torch", reason='needs pip install "spacy-incparse[transformers]" (PyTorch)')
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        _limit_threads(-1)
        assert torch.get_num_threads() == 2
        monkeypatch.setattr(multiprocessing, "parent_process", multiprocessing.current_process)
        _limit_threads(-2)
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)
