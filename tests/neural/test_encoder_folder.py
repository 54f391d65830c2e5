"""Encoders read from a folder: without PyTorch what their files say, with it a pipeline that is really trained."""

import importlib.util
import json

import numpy as np
import pytest
import spacy
from spacy.util import load_config
from typer.testing import CliRunner

from spacy_incparse.cli import app
from spacy_incparse.cli.neural_train import neural_config
from spacy_incparse.errors import ConfigError, IncparseError, ModelError
from spacy_incparse.pipeline.encoder_folder import (
    create_encoder_loader,
    create_wordpiece_loader,
    encoder_sizes,
    read_safetensors,
)
from tests.neural.conftest import examples
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
    words = {token.lower_ for example in examples(spacy.blank("en"), limit=60) for token in example.reference}
    return ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *sorted(words)]


def write_safetensors(path, arrays):
    header, offset = {}, 0
    for name, array in arrays.items():
        header[name] = {"dtype": "F32", "shape": array.shape, "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
    data = json.dumps({"__metadata__": {"format": "pt"}} | header).encode()
    path.write_bytes(len(data).to_bytes(8, "little") + data + b"".join(array.tobytes() for array in arrays.values()))


def random_weights(n_pieces):
    """The arrays of a small BERT, by the names under which such models are published."""
    generator = np.random.default_rng(0)

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
    return {name: (generator.normal(size=shape) * 0.1).astype("float32") for name, shape in shapes.items()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("encoder")
    found = pieces()
    (folder / "config.json").write_text(json.dumps(CONFIG | {"vocab_size": len(found)}))
    (folder / "vocab.txt").write_text("\n".join(found) + "\n", encoding="utf8")
    write_safetensors(folder / "model.safetensors", random_weights(len(found)))
    return folder


def test_sizes_are_read_from_the_folder(folder):
    sizes = encoder_sizes(folder)
    assert (sizes["hidden_width"], sizes["num_hidden_layers"], sizes["model_max_length"]) == (16, 2, 64)


def test_arrays_are_read_as_they_were_written(folder):
    expected = random_weights(len(pieces()))
    found = read_safetensors(folder / "model.safetensors")
    assert found.keys() == expected.keys()
    assert all((found[name] == expected[name]).all() for name in expected)


def test_what_is_no_encoder_is_reported(tmp_path):
    with pytest.raises(ModelError, match=r"has a file config\.json"):
        create_encoder_loader(tmp_path)
    with pytest.raises(ModelError, match="the encoder has no path"):
        create_wordpiece_loader(None)
    (tmp_path / "config.json").write_text('{"model_type": "t5"}')
    with pytest.raises(ModelError, match="the encoder's type is 't5'"):
        encoder_sizes(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(ModelError, match="the setting 'hidden_size' is missing"):
        encoder_sizes(tmp_path)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(ModelError, match="not valid JSON"):
        encoder_sizes(tmp_path)
    (tmp_path / "x.safetensors").write_bytes(b"\x05\0\0\0\0\0\0\0abcde")
    with pytest.raises(ModelError, match="cannot be read"):
        read_safetensors(tmp_path / "x.safetensors")


@pytest.mark.skipif(HAS_TRANSFORMERS, reason="the extra is installed")
def test_without_the_extra_an_encoder_is_refused(folder):
    with pytest.raises(ConfigError, match=r"spacy-incparse\[transformers\]"):
        neural_config(encoder=str(folder))


def test_no_encoder_needs_nothing():
    config = neural_config(encoder="none", lang="de", max_epochs=3, seed=7)
    assert config["nlp"]["lang"] == "de"
    assert (config["training"]["max_epochs"], config["system"]["seed"]) == (3, 7)


@needs_transformers
@pytest.mark.slow
def test_a_transformer_and_trees_learn_together(folder, tmp_path):
    from spacy.training.initialize import init_nlp

    config = neural_config(encoder=str(folder))
    config["paths"] |= {"train": "assets/sample-train.mrg", "dev": "assets/sample-dev.mrg"}
    config["corpora"]["train"]["limit"] = config["corpora"]["dev"]["limit"] = 20
    config["training"]["optimizer"]["learn_rate"] = 0.002
    nlp = init_nlp(config)
    found = examples(nlp, limit=20)
    optimizer = nlp.resume_training()
    optimizer.learn_rate = 0.002
    losses = [nlp.update(found, sgd=optimizer, losses={}) for _ in range(6)]
    assert losses[0]["transformer"] > 0
    assert losses[-1]["incparse_chart"] < 0.8 * losses[0]["incparse_chart"]
    expected = str(nlp("The rain stopped.")._.trees[0])
    nlp.to_disk(tmp_path / "saved")
    assert str(spacy.load(tmp_path / "saved")("The rain stopped.")._.trees[0]) == expected
    doc = nlp(" ".join(["The rain stopped before noon ."] * 40))  # longer than the encoder's window
    assert sum(len(tree.words) for tree in doc._.trees) == len(doc)


@needs_transformers
def test_the_config_for_a_transformer_is_filled():
    from tests.neural.test_neural_configs import is_filled

    assert is_filled(load_config("configs/neural_transformer.cfg"))


@needs_transformers
@pytest.mark.slow
def test_train_takes_an_encoder(folder, tmp_path):
    trees = (ASSETS / "sample-dev.mrg").read_text(encoding="utf8").splitlines(keepends=True)
    (tmp_path / "few.mrg").write_text("".join(trees[:8]), encoding="utf8")
    arguments = ["train", str(tmp_path / "few.mrg"), str(tmp_path / "few.mrg"), str(tmp_path / "out")]
    arguments += ["--config", "neural", "--encoder", str(folder), "--max-epochs", "2"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    nlp = spacy.load(tmp_path / "out" / "model-best")
    assert nlp.pipe_names == ["sentencizer", "transformer", "incparse_chart"]
    assert nlp.config["components"]["transformer"]["model"]["hidden_width"] == WIDTH
    assert [tree.words for tree in nlp("It rained.")._.trees] == [("It", "rained", ".")]


def test_options_that_do_not_fit(tmp_path):
    from spacy_incparse.cli.neural_train import check_encoder_option, refuse

    with pytest.raises(IncparseError, match="--encoder is for --config neural"):
        check_encoder_option("rich", "folder")
    with pytest.raises(IncparseError, match="--resume cannot be used with --config neural"):
        refuse(resume=True)
