import json
from pathlib import Path

import pytest
import spacy
from spacy.cli.train import train as spacy_train
from spacy.util import load_config, load_model_from_config

from spacy_incparse.cli.recipe import read_recipe
from spacy_incparse.rerank.training import RERANK_DEFAULTS
from spacy_incparse.training.settings import TRAINING_DEFAULTS, parser_config
from tests.small_pipeline import ASSETS, SMALL

CONFIGS = Path(__file__).parents[2] / "configs"
OTHERS = ("rerank", "neural", "neural_shared", "neural_transformer")  # not of the component incparse
NAMES = ("accurate", "best", "chart", "crf", "generative", "hybrid", "max-margin", "paper", "rich")
MEMBERS = {"one": {"recipe": "paper", "table_bits": 16, "train_beam_size": 8, "max_epochs": 2}, "generative": {}}


def read(name):
    return load_config(CONFIGS / f"{name}.cfg")


def test_there_is_one_for_each_recipe():
    assert sorted(path.stem for path in CONFIGS.glob("*.cfg")) == sorted(NAMES + OTHERS)


@pytest.mark.parametrize("name", NAMES)
def test_a_config_is_filled_and_has_every_setting_as_its_recipe_does(name):
    config, recipe = read(name), read_recipe(name)
    nlp = load_model_from_config(config, auto_fill=False)  # complains of anything missing
    filled = load_model_from_config(config, auto_fill=True).config
    assert filled == nlp.config
    for section in config:
        assert filled[section] == config[section], section
    component, settings = config.interpolate()["components"]["incparse"], recipe.parser_config
    assert set(component["training"]) | set(component["search"]) == set(settings.to_dict()) | set(TRAINING_DEFAULTS)
    assert set(component["search"]) == set(settings.SEARCH)
    given = parser_config({**component["training"], **component["search"]})
    assert json.dumps(given.to_dict()) == json.dumps(settings.to_dict())
    assert config["training"]["max_epochs"] == recipe.max_epochs
    assert {key for key, weight in config["training"]["score_weights"].items() if weight} == {"const_f"}


def test_the_config_of_the_reranker_is_filled_and_names_every_setting(trained, tmp_path):
    trained.to_disk(tmp_path)
    config = load_config(CONFIGS / "rerank.cfg", overrides={"paths.parser": str(tmp_path)})
    nlp = load_model_from_config(config, auto_fill=False)
    assert nlp.pipe_names == ["senter", "incparse", "incparse_reranker"]
    component = config.interpolate()["components"]["incparse_reranker"]
    assert component["training"] == RERANK_DEFAULTS
    assert {key for key, weight in config["training"]["score_weights"].items() if weight} == {"const_f"}


def overrides(name, **more):
    """What makes training short, of the settings that the config has."""
    settings = read(name)["components"]["incparse"]["training"]
    small = {
        key: value for key, value in (SMALL | {"members": MEMBERS}).items() if key in settings and key != "features"
    }
    return {
        "paths.train": str(ASSETS / "sample-train.mrg"),
        "paths.dev": str(ASSETS / "sample-dev.mrg"),
        "training.max_epochs": 2,
        "corpora.train.limit": 80,
        "corpora.dev.limit": 15,
        **{f"components.incparse.training.{key}": value for key, value in small.items()},
        **more,
    }


@pytest.mark.parametrize("name", NAMES)
def test_spacy_train(name, tmp_path):
    spacy_train(CONFIGS / f"{name}.cfg", tmp_path, overrides=overrides(name))
    for part in ("model-best", "model-last"):
        nlp = spacy.load(tmp_path / part)
        assert nlp.pipe_names == ["senter", "incparse"]
        doc = nlp("The rain stopped.")
        assert doc._.trees[0].words == ("The", "rain", "stopped", ".")
        assert all(token.tag_ for token in doc) == nlp.get_pipe("incparse").set_tags
        assert nlp.get_pipe("incparse").model.temperature > 0  # fitted on the dev part
        assert nlp.meta["performance"]["const_f"] > 0.3


def test_small_batches_work_too(tmp_path):
    batcher = {"@batchers": "spacy.batch_by_sequence.v1", "size": 16}
    more = {"training.batcher": batcher, "training.eval_frequency": 15, "training.max_epochs": 1}
    spacy_train(CONFIGS / "paper.cfg", tmp_path, overrides=overrides("paper", **more))
    assert spacy.load(tmp_path / "model-best")("The rain stopped.")._.trees


def test_training_beside_another_component(tmp_path):
    """A thinc tagger in the same pipeline: its optimizer has averages, and asks for every component's parameters."""
    config = read("paper")
    config["nlp"]["pipeline"] = ["senter", "tagger", "incparse"]
    config["components"]["tagger"] = {"factory": "tagger"}
    config["training"]["optimizer"]["use_averages"] = True
    config["training"]["score_weights"]["tag_acc"] = 0.0
    filled = load_model_from_config(config, auto_fill=True).config
    filled.to_disk(tmp_path / "config.cfg")
    spacy_train(tmp_path / "config.cfg", tmp_path / "out", overrides=overrides("paper", **{"training.max_epochs": 1}))
    doc = spacy.load(tmp_path / "out" / "model-best")("The rain stopped.")
    assert doc._.trees
    assert all(token.tag_ for token in doc)


def test_a_missing_path_is_told(tmp_path):
    with pytest.raises(ValueError, match="has no path"):
        spacy_train(CONFIGS / "paper.cfg", tmp_path)
