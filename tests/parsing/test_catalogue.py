import importlib
import sys
from pathlib import Path

import pytest
import spacy
from catalogue import REGISTRY
from typer.testing import CliRunner

from spacy_incparse.errors import ConfigError
from spacy_incparse.parsing import catalogue

ROOT = Path(__file__).parents[2]
TRAIN, DEV = ROOT / "assets" / "sample-train.mrg", ROOT / "assets" / "sample-dev.mrg"


@pytest.fixture
def toy():
    sys.modules.pop("tests.toy_kind", None)
    importlib.import_module("tests.toy_kind")  # registers it
    yield
    REGISTRY.pop(("spacy_incparse", "parser_kinds", "toy"))
    catalogue.kinds.cache_clear()


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({}, "perceptron"),
        ({"features": "rich", "train_generative_weight": 5.0}, "perceptron"),
        ({"kind": "generative", "features": None}, "generative"),
        ({"kind": "chart"}, "chart"),
    ],
)
def test_the_kind_of_settings(settings, name):
    kind = catalogue.kind_of(settings)
    assert kind.name == catalogue.kind_of_config(kind.config_type()).name == name


@pytest.mark.parametrize("name", ["charts", []])
def test_an_unknown_kind_is_told_those_that_there_are(name):
    with pytest.raises(ConfigError, match="it must be one of perceptron, chart, combined, crf, generative"):
        catalogue.kind_of({"kind": name})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"measures_beam_size": 50, "beam_size": -1}, "beam_size is -1: it must be at least 0"),
        ({"choose_trees": 0}, "choose_trees is 0: it must be at least 1"),
        ({"choose_from": "beam"}, "choose_from is 'beam': it must be one of search, lists, or None"),
        ({"beam_size": -1}, "beam_size is -1: it must be at least 1"),
        ({"outcome_filter_min_count": 5, "beam_size": 0}, "beam_size is 0: it must be at least 1"),
        ({"foo": 1}, "'foo' is not a search setting: choose from beam_size, gamma, outcome_filter_min_count"),
        (
            {"measures_beam_size": 5, "outcome_filter_min_count": 5},
            "'measures_beam_size' belongs to generative parsers, 'outcome_filter_min_count' to perceptron parsers",
        ),
    ],
)
def test_wrong_settings_of_the_search(settings, message):
    with pytest.raises(ConfigError, match=message):
        catalogue.check_search(settings)


def test_good_settings_of_the_search():
    catalogue.check_search({})
    catalogue.check_search({"choose": "expected_f", "choose_trees": 20})
    catalogue.check_search({"beam_size": 0})  # of a generative parser
    catalogue.check_search({"measures_beam_size": 50, "beam_size": 7})
    catalogue.check_search({"generative_weight": 20})


@pytest.mark.usefixtures("toy")
def test_a_new_kind_is_trained_saved_and_loaded_by_the_command(tmp_path):
    from spacy_incparse.cli import app

    result = CliRunner().invoke(app, ["train", str(TRAIN), str(DEV), str(tmp_path), "--config", "toy"])
    assert result.exit_code == 0, result.output
    nlp = spacy.load(tmp_path / "model-best")
    assert nlp.config["components"]["incparse"]["training"]["kind"] == "toy"
    doc = nlp("The cat slept.")
    assert [tree.source for tree in doc._.trees] == ["beam"]
    assert doc._.trees[0].words == ("The", "cat", "slept", ".")
    model = str(tmp_path / "model-best")
    for command in (["evaluate", model, str(DEV)], ["parse", "It rained.", "-m", model, "--nbest", "3"]):
        result = CliRunner().invoke(app, command)
        assert result.exit_code == 0, result.output
