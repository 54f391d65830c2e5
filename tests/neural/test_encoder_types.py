"""Encoders of other types than BERT, read from a folder: MPNet and RoBERTa, each compared with plain NumPy."""

import json
import math
import re

import numpy as np
import pytest
import spacy

from spacy_incparse.cli.train_neural import neural_config
from spacy_incparse.errors import ModelError
from spacy_incparse.neural.encoder import create_wordpiece_loader, encoder_sizes
from tests.neural.tiny_encoder import (
    CONFIG,
    learned,
    needs_transformers,
    pieces,
    random_weights,
    transformer_pipeline,
    write_safetensors,
)

N_BUCKETS, N_HEADS, PAD = 8, 2, 1
NAMES = [
    (r"attention\.self\.query", "attention.attn.q"),
    (r"attention\.self\.key", "attention.attn.k"),
    (r"attention\.self\.value", "attention.attn.v"),
    (r"attention\.output\.dense", "attention.attn.o"),
    (r"attention\.output\.LayerNorm", "attention.LayerNorm"),
]


def write_mpnet(folder):
    known = ["<s>", "<pad>", "</s>", "[UNK]", *pieces()[4:]]
    weights = random_weights(len(known))
    del weights["embeddings.token_type_embeddings.weight"]
    for old, new in NAMES:
        weights = {re.sub(old, new, name): array for name, array in weights.items()}
    bias = np.random.default_rng(1).normal(size=(N_BUCKETS, N_HEADS)).astype("float32")
    weights["encoder.relative_attention_bias.weight"] = bias
    config = {k: v for k, v in CONFIG.items() if k != "type_vocab_size"}
    config |= {"model_type": "mpnet", "pad_token_id": PAD, "relative_attention_num_buckets": N_BUCKETS}
    (folder / "vocab.txt").write_text("\n".join(known) + "\n", encoding="utf8")
    special = {"cls_token": "<s>", "sep_token": "</s>", "unk_token": "[UNK]"}
    (folder / "tokenizer_config.json").write_text(json.dumps(special))
    return _written(folder, config, weights, len(known))


def write_roberta(folder):
    letters = [chr(code) for code in range(33, 127)] + ["\u0120"]  # of a blank
    merges = ["t h", "th e", "\u0120 the", "\u0120 a"]
    known = ["<s>", "<pad>", "</s>", "<unk>", *letters, "th", "the", "\u0120the", "\u0120a"]
    weights = random_weights(len(known))
    weights["embeddings.token_type_embeddings.weight"] = weights["embeddings.token_type_embeddings.weight"][:1]
    config = CONFIG | {"model_type": "roberta", "pad_token_id": PAD, "type_vocab_size": 1}
    numbers = {piece: number for number, piece in enumerate(known)}
    (folder / "tokenizer.json").write_text(json.dumps({"model": {"vocab": numbers, "merges": merges}}))
    return _written(folder, config, weights, len(known))


def _written(folder, config, weights, n_pieces):
    (folder / "config.json").write_text(json.dumps(config | {"vocab_size": n_pieces}))
    write_safetensors(folder / "model.safetensors", weights)
    return folder, weights


def vectors(weights, ids, first=PAD + 1, n_heads=N_HEADS):
    """The last layer's vectors of one sequence of pieces, as the papers define them; first: its first position."""
    names = {new: old.replace("\\", "") for old, new in NAMES}
    for new, old in names.items():
        weights = {name.replace(new + ".", old + "."): array for name, array in weights.items()}

    def linear(x, name):
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def norm(x, name):
        x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + CONFIG["layer_norm_eps"])
        return x * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    x = weights["embeddings.word_embeddings.weight"][ids]
    x = x + weights["embeddings.position_embeddings.weight"][first : first + len(ids)]
    x = norm(x + weights.get("embeddings.token_type_embeddings.weight", np.zeros((1, 1)))[0], "embeddings.LayerNorm")
    bias = np.zeros((n_heads, len(ids), len(ids)))
    if "encoder.relative_attention_bias.weight" in weights:
        table = weights["encoder.relative_attention_bias.weight"]
        for i in range(len(ids)):
            for j in range(len(ids)):
                bias[:, i, j] = table[bucket(i - j)]
    for number in range(sum(name.endswith("intermediate.dense.weight") for name in weights)):
        layer = f"encoder.layer.{number}"
        q, k, v = (
            linear(x, f"{layer}.attention.self.{part}").reshape(len(ids), n_heads, -1).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = np.exp(q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1]) + bias)
        found = (scores / scores.sum(-1, keepdims=True)) @ v
        found = linear(found.transpose(1, 0, 2).reshape(len(ids), -1), f"{layer}.attention.output.dense")
        x = norm(x + found, f"{layer}.attention.output.LayerNorm")
        inner = linear(x, f"{layer}.intermediate.dense")
        inner = inner * 0.5 * (1 + np.vectorize(math.erf)(inner / math.sqrt(2)))
        x = norm(x + linear(inner, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
    return x


def bucket(back):
    """The row of the table for a distance (Raffel et al. 2020): near ones each, further ones by the logarithm."""
    half, distance = N_BUCKETS // 2, abs(back)
    exact = half // 2
    far = exact + int(math.log(max(distance, 1) / exact) / math.log(128 / exact) * (half - exact))
    return (half if back < 0 else 0) + (distance if distance < exact else min(far, half - 1))


@needs_transformers
@pytest.mark.parametrize("write", [write_mpnet, write_roberta])
def test_vectors_are_those_of_plain_numpy(tmp_path, write):
    import torch

    folder, weights = write(tmp_path)
    nlp = transformer_pipeline(folder)
    encoder = nlp.get_pipe("transformer").model.get_ref("transformer").shims[0]._model.eval()
    generator = np.random.default_rng(0)
    rows = [generator.integers(4, len(weights["embeddings.word_embeddings.weight"]), n) for n in (50, 3, 17)]
    padded = np.full((len(rows), 50), PAD)
    for row, ids in zip(padded, rows, strict=True):
        row[: len(ids)] = ids
    with torch.no_grad():
        found = encoder(torch.from_numpy(padded)).all_outputs[-1].numpy()
    for ids, one in zip(rows, found, strict=True):
        assert np.abs(one[: len(ids)] - vectors(weights, ids)).max() < 1e-4


@needs_transformers
@pytest.mark.parametrize("write", [write_mpnet, write_roberta])
def test_a_pipeline_learns_and_is_stored(tmp_path, write):
    folder, _ = write(tmp_path)
    nlp = transformer_pipeline(folder, frozen_layers=1)
    encoder = nlp.get_pipe("transformer").model.get_ref("transformer").shims[0]._model.curated_encoder
    layers = encoder.layers
    assert not any(weight.requires_grad for weight in encoder.embeddings.parameters())  # or all layers had gradients
    before = [layer.ffn.output.weight.detach().clone() for layer in layers]
    learned(nlp, n_passes=2, limit=10)  # the first update has no gradient below the scores, which begin as zeros
    is_same = [bool((layer.ffn.output.weight == old).all()) for layer, old in zip(layers, before, strict=True)]
    assert is_same == [True, False]
    nlp.to_disk(tmp_path / "stored")
    text = "The cat saw a dog."
    assert str(spacy.load(tmp_path / "stored")(text)._.trees) == str(nlp(text)._.trees)


def test_settings_name_the_layers_and_the_pieces(tmp_path, monkeypatch):
    write_mpnet(tmp_path)
    sizes, names = encoder_sizes(tmp_path)
    assert (sizes["n_buckets"], sizes["model_max_length"]) == (N_BUCKETS, CONFIG["max_position_embeddings"] - 2)
    assert "Wordpiece" in names
    monkeypatch.setattr("spacy_incparse.cli.train_neural.has_transformers", lambda: True)
    model = neural_config(encoder=str(tmp_path), mixed_precision=True)["components"]["transformer"]["model"]
    assert model["@architectures"] == "spacy_incparse.MPNetTransformer.v1"
    assert model["mixed_precision"]
    assert "type_vocab_size" not in model


def test_half_of_a_large_encoder_learns_on_a_processor(tmp_path, monkeypatch):
    write_mpnet(tmp_path)
    monkeypatch.setattr("spacy_incparse.cli.train_neural.has_transformers", lambda: True)
    path = tmp_path / "config.json"
    sizes = {"hidden_size": 768, "num_attention_heads": 12, "num_hidden_layers": 4}
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf8")) | sizes), encoding="utf8")
    for gpu, n_frozen in ((-1, 2), (0, 0)):
        config = neural_config(encoder=str(tmp_path), gpu=gpu)
        assert config["components"]["transformer"]["model"]["with_spans"]["frozen_layers"] == n_frozen


@needs_transformers
@pytest.mark.parametrize("damage", [{"merges": ["a b c"]}, {"vocab": {"a": 0}}, {"vocab": 3}])
def test_damaged_pieces_are_an_error_that_names_the_file(tmp_path, damage):
    folder, _ = write_roberta(tmp_path)
    nlp = transformer_pipeline(folder)
    path = folder / "tokenizer.json"
    path.write_text(json.dumps({"model": json.loads(path.read_text())["model"] | damage}))
    with pytest.raises(ModelError, match=r"tokenizer\.json"):
        create_wordpiece_loader(folder)(nlp.get_pipe("transformer").model.get_ref("piece_encoder"))
