"""The shipped configs: filled, up to date, and good for `spacy train`."""

import json
from pathlib import Path

import pytest
import spacy
from spacy.cli.train import train as spacy_train
from spacy.util import load_config, load_model_from_config

from spacy_incparse.cli.recipe import read_recipe
from spacy_incparse.generative.kind import GenerativeConfig
from spacy_incparse.incremental.config import ParserConfig
from spacy_incparse.rerank.training import RERANK_DEFAULTS
from spacy_incparse.training.settings import TRAINING_DEFAULTS, parser_config
from tests.small_pipeline import ASSETS, SMALL

CONFIGS = Path(__file__).parents[2] / "configs"
OTHERS = ("rerank", "neural", "neural_shared", "neural_transformer")  # not of the component incparse
NAMES = sorted(path.stem for path in CONFIGS.glob("*.cfg") if path.stem not in OTHERS)
CHARTS = ["chart", "crf", "max-margin"]
PERCEPTRONS = [name for name in NAMES if name not in ("best", "generative", *CHARTS)]


def read(name):
    return load_config(CONFIGS / f"{name}.cfg")


def test_there_is_one_for_each_recipe():
    assert NAMES == ["accurate", "best", "chart", "crf", "generative", "hybrid", "max-margin", "paper", "rich"]


@pytest.mark.parametrize("name", NAMES)
def test_a_config_is_filled(name):
    config = read(name)
    nlp = load_model_from_config(config, auto_fill=False)  # complains of anything missing
    filled = load_model_from_config(config, auto_fill=True).config
    assert filled == nlp.config
    for section in config:
        assert filled[section] == config[section], section


@pytest.mark.parametrize("name", PERCEPTRONS)
def test_a_config_names_every_setting_of_the_parser(name):
    component = read(name).interpolate()["components"]["incparse"]
    names = set(component["training"]) | set(component["search"])
    assert names == set(ParserConfig().to_dict()) | set(TRAINING_DEFAULTS)
    assert set(component["search"]) == set(ParserConfig.SEARCH)
    given = parser_config({**component["training"], **component["search"]}).to_dict()
    assert json.dumps(given) == json.dumps(read_recipe(name).parser_config.to_dict())
    assert read(name)["training"]["max_epochs"] == read_recipe(name).max_epochs


@pytest.mark.parametrize("name", NAMES)
def test_only_trees_decide_which_pass_is_best(name):
    weights = read(name)["training"]["score_weights"]
    assert {key for key, weight in weights.items() if weight} == {"const_f"}


def test_the_config_of_the_reranker_is_filled_and_names_every_setting(trained, tmp_path):
    trained.to_disk(tmp_path)
    config = load_config(CONFIGS / "rerank.cfg", overrides={"paths.parser": str(tmp_path)})
    nlp = load_model_from_config(config, auto_fill=False)
    assert nlp.pipe_names == ["sentencizer", "incparse", "incparse_reranker"]
    component = config.interpolate()["components"]["incparse_reranker"]
    assert component["training"] == RERANK_DEFAULTS
    assert {key for key, weight in config["training"]["score_weights"].items() if weight} == {"const_f"}


def overrides(**more):
    settings = {f"components.incparse.training.{key}": value for key, value in SMALL.items() if key != "tagger"}
    return {
        "paths.train": str(ASSETS / "sample-train.mrg"),
        "paths.dev": str(ASSETS / "sample-dev.mrg"),
        "components.incparse.training.tagger": SMALL["tagger"],
        "training.max_epochs": 2,
        "corpora.train.limit": 80,
        "corpora.dev.limit": 15,
        **settings,
        **more,
    }


def test_the_generative_config_names_every_setting():
    component = read("generative").interpolate()["components"]["incparse"]
    names = set(component["training"]) | set(component["search"])
    assert names == set(GenerativeConfig().to_dict()) | set(TRAINING_DEFAULTS)
    assert set(component["search"]) == set(GenerativeConfig.SEARCH)
    assert parser_config({**component["training"], **component["search"]}) == GenerativeConfig()
    assert read_recipe("generative").parser_config == GenerativeConfig()


@pytest.mark.parametrize("name", CHARTS)
def test_the_configs_of_charts_name_every_setting(name):
    component = read(name).interpolate()["components"]["incparse"]
    config = read_recipe(name).parser_config
    assert set(component["training"]) | set(component["search"]) == set(config.to_dict()) | set(TRAINING_DEFAULTS)
    assert set(component["search"]) == set(config.SEARCH)
    assert parser_config({**component["training"], **component["search"]}) == read_recipe(name).parser_config
    assert read(name)["training"]["max_epochs"] == read_recipe(name).max_epochs


@pytest.mark.parametrize("name", CHARTS)
def test_spacy_train_of_a_chart_parser(name, tmp_path):
    small = {"tagger": {"n_epochs": 3}, "n_folds": 2} | ({} if name == "max-margin" else {"table_bits": 16})
    more = {f"components.incparse.training.{key}": value for key, value in small.items()}
    paths = {"paths.train": str(ASSETS / "sample-train.mrg"), "paths.dev": str(ASSETS / "sample-dev.mrg")}
    limits = {"training.max_epochs": 2, "corpora.train.limit": 80, "corpora.dev.limit": 15}
    spacy_train(CONFIGS / f"{name}.cfg", tmp_path, overrides=paths | limits | more)
    nlp = spacy.load(tmp_path / "model-best")
    assert nlp.meta["performance"]["const_f"] > 0.3
    assert nlp.meta["performance"]["incparse_loss"] > 0
    assert nlp("The rain stopped.")._.trees[0].words == ("The", "rain", "stopped", ".")
    assert nlp.get_pipe("incparse").model.temperature > 0


def test_spacy_train_of_a_generative_model(tmp_path):
    paths = {"paths.train": str(ASSETS / "sample-train.mrg"), "paths.dev": str(ASSETS / "sample-dev.mrg")}
    spacy_train(CONFIGS / "generative.cfg", tmp_path, overrides=paths | {"corpora.dev.limit": 15})
    nlp = spacy.load(tmp_path / "model-best")
    assert nlp.meta["performance"]["const_f"] > 0.5
    doc = nlp("The rain stopped.")
    assert doc._.trees[0].words == ("The", "rain", "stopped", ".")
    assert all(token.tag_ for token in doc)


@pytest.mark.parametrize("name", PERCEPTRONS)
def test_spacy_train(name, tmp_path):
    features = read(name)["components"]["incparse"]["training"]["features"]
    more = {"components.incparse.training.features": features}
    spacy_train(CONFIGS / f"{name}.cfg", tmp_path, overrides=overrides(**more))
    nlp = spacy.load(tmp_path / "model-best")
    assert nlp.pipe_names == ["sentencizer", "incparse"]
    assert nlp.meta["performance"]["const_f"] > 0.3
    assert nlp.meta["performance"]["incparse_loss"] > 0
    assert nlp("The rain stopped.")._.trees[0].words == ("The", "rain", "stopped", ".")
    assert spacy.load(tmp_path / "model-last")("The rain stopped.")._.trees
    assert nlp.get_pipe("incparse").model.temperature > 0  # fitted on the dev part
    assert spacy.load(tmp_path / "model-last").get_pipe("incparse").model.temperature > 0


def test_small_batches_work_too(tmp_path):
    batcher = {"@batchers": "spacy.batch_by_sequence.v1", "size": 16}
    more = {"training.batcher": batcher, "training.eval_frequency": 15, "training.max_epochs": 1}
    spacy_train(CONFIGS / "paper.cfg", tmp_path, overrides=overrides(**more))
    assert spacy.load(tmp_path / "model-best")("The rain stopped.")._.trees


def test_training_beside_another_component(tmp_path):
    """A thinc tagger in the same pipeline: its optimizer has averages, and asks for every component's parameters."""
    config = read("paper")
    config["nlp"]["pipeline"] = ["sentencizer", "tagger", "incparse"]
    config["components"]["tagger"] = {"factory": "tagger"}
    config["training"]["optimizer"]["use_averages"] = True
    config["training"]["score_weights"]["tag_acc"] = 0.0
    filled = load_model_from_config(config, auto_fill=True).config
    filled.to_disk(tmp_path / "config.cfg")
    spacy_train(tmp_path / "config.cfg", tmp_path / "out", overrides=overrides(**{"training.max_epochs": 1}))
    doc = spacy.load(tmp_path / "out" / "model-best")("The rain stopped.")
    assert doc._.trees
    assert all(token.tag_ for token in doc)


def test_a_missing_path_is_told(tmp_path):
    with pytest.raises(ValueError, match="has no path"):
        spacy_train(CONFIGS / "paper.cfg", tmp_path)
