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


@pytest.mark.parametrize("name", ["neural", "neural_shared"])
def test_the_configs_for_a_cpu_are_filled(name):
    assert is_filled(load_config(CONFIGS / f"{name}.cfg"))


@pytest.mark.parametrize("name", [*NAMES, "neural_shared"])
def test_a_config_names_every_setting_of_the_component(name):
    config = load_config(CONFIGS / f"{name}.cfg")
    assert set(config["components"]["incparse_chart"]) == {"factory", *DEFAULT_CONFIG}


@pytest.mark.parametrize("name", NAMES)
def test_only_trees_decide_which_pass_is_best(name):
    weights = load_config(CONFIGS / f"{name}.cfg")["training"]["score_weights"]
    assert {key for key, weight in weights.items() if weight} == {"const_f"}


def test_all_components_on_a_shared_layer_decide_which_pass_is_best():
    config = load_config(CONFIGS / "neural_shared.cfg")
    weights = {key: weight for key, weight in config["training"]["score_weights"].items() if weight}
    assert weights == {"tag_acc": 0.25, "dep_uas": 0.12, "dep_las": 0.13, "ents_f": 0.25, "const_f": 0.25}
    for name in ("tagger", "parser", "ner", "incparse_chart"):
        assert config["components"][name]["model"]["tok2vec"]["@architectures"] == "spacy.Tok2VecListener.v1"


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
