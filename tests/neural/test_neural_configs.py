from pathlib import Path

import numpy as np
import pytest
import spacy
import srsly
from spacy.cli import app as spacy_app
from spacy.training.initialize import init_nlp
from spacy.util import load_config, load_model_from_config
from typer.testing import CliRunner

from spacy_incparse.cli import app
from spacy_incparse.cli.train_neural import neural_config
from spacy_incparse.errors import ModelError
from tests.neural.tiny_encoder import needs_transformers
from tests.small_pipeline import ASSETS

CONFIGS = Path(__file__).parents[2] / "configs"


def is_filled(config):
    nlp = load_model_from_config(config, auto_fill=False)  # complains of anything missing
    filled = load_model_from_config(config, auto_fill=True).config
    return filled == nlp.config and all(filled[section] == config[section] for section in config)


@pytest.mark.parametrize(
    "name", ["neural", "neural_shared", pytest.param("neural_transformer", marks=needs_transformers)]
)
def test_the_configs_are_filled(name):
    assert is_filled(load_config(CONFIGS / f"{name}.cfg"))


@pytest.mark.slow
def test_train_makes_a_pipeline(pretrained, tmp_path):
    """From weights for its layer, of a treebank and extra trees."""
    folder, extra = tmp_path / "out", tmp_path / "extra.mrg"
    extra.write_text("(TOP (HEADING (NP (FOO Gnus) (BAR everywhere))))\n" * 8, encoding="utf8")
    arguments = ["train", str(ASSETS / "sample-dev.mrg"), str(ASSETS / "sample-dev.mrg"), str(folder)]
    arguments += ["--config", "neural", "--max-epochs", "1", "--encoder", "none", "--extra", str(extra)]
    arguments += ["--extra-weight", "0.5", "--init-tok2vec", str(pretrained)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert result.output.startswith("50 sentences and 8 extra ones to train on, 50 to choose the best pass\n")
    assert f"The pipeline is in {folder / 'model-best'}" in result.output
    assert sorted(path.name for path in folder.iterdir()) == ["model-best"]
    nlp = spacy.load(folder / "model-best")
    assert len(nlp("It rained.")._.trees) == 1
    assert "HEADING" in nlp.get_pipe("incparse_neural").labels
    assert nlp.config["paths"]["init_tok2vec"] == str(pretrained)
    again = CliRunner().invoke(app, arguments)
    assert again.exit_code == 1
    assert "replace it with --force" in again.output


@pytest.fixture(scope="module")
def pretrained(tmp_path_factory):
    """Weights that `spacy pretrain` wrote, with the command that the documentation shows."""
    folder = tmp_path_factory.mktemp("pretrained")
    srsly.write_jsonl(folder / "raw.jsonl", [{"text": "The owl had watched them for an hour."}] * 20)
    words = ["pretrain", CONFIGS / "neural.cfg", folder, "--paths.raw_text", folder / "raw.jsonl"]
    result = CliRunner().invoke(spacy_app, [*map(str, words), "--pretraining.max_epochs", "1"])
    assert result.exit_code == 0, result.output
    return folder / "model-last.bin"


def words_of(config):
    """The vectors that an initialized parser's layer gives to words."""
    config["paths"] |= {"train": str(ASSETS / "sample-dev.mrg"), "dev": str(ASSETS / "sample-dev.mrg")}
    nlp = init_nlp(config)
    layer = nlp.get_pipe("incparse_neural").model.get_ref("tok2vec")
    return layer.predict([nlp.make_doc("The owl had watched them.")])[0], layer


def test_a_layer_starts_with_pre_trained_weights(pretrained):
    given, layer = words_of(neural_config(init_tok2vec=pretrained))
    plain, _ = words_of(neural_config())
    assert np.abs(given - plain).max() > 0.01
    found = layer.copy().from_bytes(pretrained.read_bytes())
    assert found.to_bytes() == layer.to_bytes()


def test_weights_that_do_not_fit_are_reported(pretrained, tmp_path):
    damaged = tmp_path / "damaged.bin"
    for content in (b"", b"weights", srsly.msgpack_dumps([1]), pretrained.read_bytes()[:1000]):
        damaged.write_bytes(content)
        with pytest.raises(ModelError, match=r"damaged\.bin: these are no weights of the parser's layer"):
            neural_config(init_tok2vec=damaged)
    words = ["train", "x.mrg", "y.mrg", str(tmp_path / "out"), "--init-tok2vec", str(pretrained)]
    result = CliRunner().invoke(app, words)
    assert "cannot be used with --config rich: it is for --config neural" in result.output
