"""Encoders read from a folder: without PyTorch what their files say, with it a pipeline that is really trained."""

import pytest
import spacy
from spacy.util import load_config
from typer.testing import CliRunner

from spacy_incparse.cli import app
from spacy_incparse.cli.neural_train import neural_config
from spacy_incparse.errors import ConfigError, ModelError
from spacy_incparse.pipeline.encoder_folder import (
    create_encoder_loader,
    create_wordpiece_loader,
    encoder_sizes,
    read_safetensors,
)
from tests.neural.conftest import examples
from tests.neural.tiny_encoder import (
    HAS_TRANSFORMERS,
    WIDTH,
    needs_transformers,
    pieces,
    random_weights,
    transformer_pipeline,
)
from tests.small_pipeline import ASSETS


def test_sizes_are_read_from_the_folder(encoder_folder):
    sizes = encoder_sizes(encoder_folder)
    assert (sizes["hidden_width"], sizes["num_hidden_layers"], sizes["model_max_length"]) == (16, 2, 64)


def test_arrays_are_read_as_they_were_written(encoder_folder):
    expected = random_weights(len(pieces()))
    found = read_safetensors(encoder_folder / "model.safetensors")
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
def test_without_the_extra_an_encoder_is_refused(encoder_folder):
    with pytest.raises(ConfigError, match=r"spacy-incparse\[transformers\]"):
        neural_config(encoder=str(encoder_folder))


def test_no_encoder_needs_nothing():
    config = neural_config(encoder="none", lang="de", max_epochs=3, seed=7)
    assert config["nlp"]["lang"] == "de"
    assert (config["training"]["max_epochs"], config["system"]["seed"]) == (3, 7)


@needs_transformers
@pytest.mark.slow
def test_a_transformer_and_trees_learn_together(encoder_folder, tmp_path):
    nlp = transformer_pipeline(encoder_folder)
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
def test_weights_of_the_convolutional_layer_do_not_go_with_an_encoder(encoder_folder, tmp_path):
    with pytest.raises(ConfigError, match="does not go with --encoder"):
        neural_config(encoder=str(encoder_folder), init_tok2vec=tmp_path / "model-last.bin")


@needs_transformers
def test_the_config_for_a_transformer_is_filled():
    from tests.neural.test_neural_configs import is_filled

    assert is_filled(load_config("configs/neural_transformer.cfg"))


@needs_transformers
@pytest.mark.slow
def test_train_takes_an_encoder(encoder_folder, tmp_path):
    trees = (ASSETS / "sample-dev.mrg").read_text(encoding="utf8").splitlines(keepends=True)
    (tmp_path / "few.mrg").write_text("".join(trees[:8]), encoding="utf8")
    arguments = ["train", str(tmp_path / "few.mrg"), str(tmp_path / "few.mrg"), str(tmp_path / "out")]
    arguments += ["--config", "neural", "--encoder", str(encoder_folder), "--max-epochs", "2"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    nlp = spacy.load(tmp_path / "out" / "model-best")
    assert nlp.pipe_names == ["sentencizer", "transformer", "incparse_chart"]
    assert nlp.config["components"]["transformer"]["model"]["hidden_width"] == WIDTH
    assert [tree.words for tree in nlp("It rained.")._.trees] == [("It", "rained", ".")]
