"""The configs of the neural parser: filled, the same in the package and in `configs/`, and used by `train`."""

from pathlib import Path

import pytest
import spacy
from spacy.util import load_config, load_model_from_config
from typer.testing import CliRunner

from spacy_incparse.cli import app
from spacy_incparse.pipeline.chart_pipe import DEFAULT_CONFIG
from tests.small_pipeline import ASSETS

CONFIGS = Path(__file__).parents[2] / "configs"
PACKAGED = Path(__file__).parents[2] / "spacy_incparse" / "cli"
NAMES = ["neural", "neural_transformer"]


def is_filled(config):
    nlp = load_model_from_config(config, auto_fill=False)  # complains of anything missing
    filled = load_model_from_config(config, auto_fill=True).config
    return filled == nlp.config and all(filled[section] == config[section] for section in config)


@pytest.mark.parametrize("name", NAMES)
def test_the_package_has_the_same_config(name):
    assert (PACKAGED / f"{name}.cfg").read_bytes() == (CONFIGS / f"{name}.cfg").read_bytes()


def test_the_config_for_a_cpu_is_filled():
    assert is_filled(load_config(CONFIGS / "neural.cfg"))


@pytest.mark.parametrize("name", NAMES)
def test_a_config_names_every_setting_of_the_component(name):
    config = load_config(CONFIGS / f"{name}.cfg")
    assert set(config["components"]["incparse_chart"]) == {"factory", *DEFAULT_CONFIG}
    assert config["training"]["score_weights"]["const_f"] == 1.0


@pytest.mark.slow
def test_train_makes_a_pipeline(tmp_path):
    folder = tmp_path / "out"
    arguments = ["train", str(ASSETS / "sample-dev.mrg"), str(ASSETS / "sample-dev.mrg"), str(folder)]
    arguments += ["--config", "neural", "--max-epochs", "2", "--encoder", "none"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert f"The pipeline is in {folder / 'model-best'}" in result.output
    assert sorted(path.name for path in folder.iterdir()) == ["model-best"]
    nlp = spacy.load(folder / "model-best")
    assert len(nlp("It rained.")._.trees) == 1
    again = CliRunner().invoke(app, arguments)
    assert again.exit_code == 1
    assert "replace it with --force" in again.output
