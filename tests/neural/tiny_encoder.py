"""A small BERT with random weights, as such models are published; and a pipeline on it that is really trained."""

import importlib.util
import json

import numpy as np
import pytest
import spacy
from spacy.training.initialize import init_nlp

from spacy_incparse.cli.train_neural import neural_config
from spacy_incparse.pipeline.registered import TreebankReader
from tests.small_pipeline import ASSETS

WIDTH, N_LAYERS, MAX_PIECES = 16, 2, 64
HAS_TRANSFORMERS = importlib.util.find_spec("spacy_curated_transformers") is not None
needs_transformers = pytest.mark.skipif(
    not HAS_TRANSFORMERS, reason='needs pip install "spacy-incparse[transformers]" (PyTorch)'
)
CONFIG = {
    "model_type": "bert",
    "hidden_size": WIDTH,
    "intermediate_size": 32,
    "num_attention_heads": 2,
    "num_hidden_layers": N_LAYERS,
    "max_position_embeddings": MAX_PIECES,
    "type_vocab_size": 2,
    "layer_norm_eps": 1e-12,
    "hidden_act": "gelu",
    "attention_probs_dropout_prob": 0.1,
    "hidden_dropout_prob": 0.1,
    "pad_token_id": 0,
}


def pieces():
    found = TreebankReader(ASSETS / "sample-train.mrg", limit=60)(spacy.blank("en"))
    words = {token.lower_ for example in found for token in example.reference}
    return ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *sorted(words)]


def write_safetensors(path, arrays):
    header, offset = {}, 0
    for name, array in arrays.items():
        header[name] = {"dtype": "F32", "shape": array.shape, "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
    data = json.dumps({"__metadata__": {"format": "pt"}} | header).encode()
    path.write_bytes(len(data).to_bytes(8, "little") + data + b"".join(array.tobytes() for array in arrays.values()))


def random_weights(n_pieces, seed=0):
    """The arrays of a small BERT, by the names under which such models are published."""
    generator = np.random.default_rng(seed)

    def linear(name, n_out, n_in):
        yield f"{name}.weight", (n_out, n_in)
        yield f"{name}.bias", (n_out,)

    def norm(name):
        yield f"{name}.weight", (WIDTH,)
        yield f"{name}.bias", (WIDTH,)

    shapes = {
        "embeddings.word_embeddings.weight": (n_pieces, WIDTH),
        "embeddings.position_embeddings.weight": (MAX_PIECES, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
        **dict(norm("embeddings.LayerNorm")),
    }
    for number in range(N_LAYERS):
        layer = f"encoder.layer.{number}"
        for part in ("query", "key", "value"):
            shapes |= dict(linear(f"{layer}.attention.self.{part}", WIDTH, WIDTH))
        shapes |= dict(linear(f"{layer}.attention.output.dense", WIDTH, WIDTH))
        shapes |= dict(norm(f"{layer}.attention.output.LayerNorm"))
        shapes |= dict(linear(f"{layer}.intermediate.dense", 32, WIDTH))
        shapes |= dict(linear(f"{layer}.output.dense", WIDTH, 32))
        shapes |= dict(norm(f"{layer}.output.LayerNorm"))
    found = {name: generator.normal(size=shape) * 0.3 for name, shape in shapes.items()}
    for name in found:
        found[name] += name.endswith("LayerNorm.weight")  # about 1: otherwise, words would hardly differ
    return {name: array.astype("float32") for name, array in found.items()}


def write_encoder(folder):
    """Write the files of an encoder that knows the words of the sample treebank; return the folder."""
    found = pieces()
    (folder / "config.json").write_text(json.dumps(CONFIG | {"vocab_size": len(found)}))
    (folder / "vocab.txt").write_text("\n".join(found) + "\n", encoding="utf8")
    write_safetensors(folder / "model.safetensors", random_weights(len(found)))
    return folder


def transformer_pipeline(folder, *, limit=20, mixed_precision=False, **with_spans):
    """Initialize the pipeline of the shipped config on an encoder; with_spans: other settings of `WithSortedSpans`."""
    config = neural_config(encoder=str(folder))
    config["paths"] |= {"train": str(ASSETS / "sample-train.mrg"), "dev": str(ASSETS / "sample-dev.mrg")}
    config["corpora"]["train"]["limit"] = config["corpora"]["dev"]["limit"] = limit
    config["training"]["optimizer"]["learn_rate"] = 0.002
    config["components"]["transformer"]["model"]["mixed_precision"] = mixed_precision
    config["components"]["transformer"]["model"]["with_spans"] |= with_spans
    return init_nlp(config)


def learned(nlp, n_passes=8, limit=60):
    """Train a pipeline for a moment; return it."""
    found = list(TreebankReader(ASSETS / "sample-train.mrg", limit=limit)(nlp))
    optimizer = nlp.resume_training()
    optimizer.learn_rate = 0.005
    for _ in range(n_passes):
        nlp.update(found, sgd=optimizer)
    return nlp
