import json
import re
from contextlib import suppress

import pytest

from spacy_incparse.cli.recipe import read_recipe
from spacy_incparse.errors import ConfigError
from spacy_incparse.incremental.config import ParserConfig
from spacy_incparse.tagging.tagger import SETTINGS
from spacy_incparse.training.settings import TRAINING_DEFAULTS, check_training

WRONG = ["x y", -1, 1.5, True, None, [1], {"a": 1}, 10**10]
NAMES = [*ParserConfig().to_dict(), *TRAINING_DEFAULTS, "lang", "max_epochs"]


@pytest.fixture
def error_of(write):
    """Return the message for settings in a .json file, without the file's name, with which it has to begin."""

    def _error_of(settings):
        path = str(write("s.json", json.dumps(settings)))
        with pytest.raises(ConfigError) as caught:
            read_recipe(path)
        assert str(caught.value).startswith(f"{path}: ")
        return str(caught.value).removeprefix(f"{path}: ")

    return _error_of


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tagger": {"n_epochs": "5"}}, "the tagger's n_epochs is '5': it must be a whole number"),
        ({"tagger": 5}, "tagger is 5: it must be a dict of settings of the tagger"),
        ({"heads": 3}, "heads is 3: it must be 'en', 'any', the path of a table, a table, or None"),
        ({"heads": {"rules": 3}}, "head table: 'rules' is missing or not an object"),
        ({"lang": []}, "lang is []: it must be a language code, such as 'en'"),
        ({"max_epochs": 0}, "max_epochs is 0: it must be at least 1"),
        ([], "expected an object"),
        ({"beam": 3}, "there is no setting 'beam' of training"),
        ({"features": 3}, "features is 3"),
        ({"n_folds": 10**10}, "n_folds is 10000000000: it must be at most 1000000000"),
        ({"features": "papr"}, "unknown feature set 'papr': choose one of paper, paper+punct, rich, accurate"),
        ({"features": "hybrid"}, "'hybrid' is not a feature set, but a recipe with more settings: use --config hybrid"),
    ],
)
def test_wrong_values_are_named(error_of, settings, message):
    assert error_of(settings).startswith(message)


@pytest.mark.parametrize("value", WRONG, ids=repr)
@pytest.mark.parametrize("name", [*NAMES, *(f"tagger.{name}" for name in SETTINGS), "generative.choose_trees"])
def test_a_value_of_any_kind_is_good_or_an_error_for_users(write, name, value):
    kind, _, inner = name.rpartition(".")
    settings = {"tagger": {inner: value}} if kind == "tagger" else {inner: value}
    if kind == "generative":
        settings["kind"] = "generative"
    with suppress(ConfigError):
        read_recipe(str(write("s.json", json.dumps(settings))))


def test_files_are_not_read_by_the_check():
    check_training({"heads": "no/such/table.json", "clusters": "no/such/clusters.txt"})
    check_training({"kind": "generative", "heads": "no/such/table.json"})


def test_what_an_option_gives_is_checked_too():
    with pytest.raises(ConfigError, match="--seed is -1: it must be at least 0"):
        read_recipe("rich", seed=-1)
    with pytest.raises(
        ConfigError, match=r"generative: --clusters c\.txt: a generative parser does not read word clusters"
    ):
        read_recipe("generative", clusters="c.txt")
    with pytest.raises(ConfigError, match="features is 'rich': a generative parser has none"):
        check_training({"kind": "generative", "features": "rich"})


@pytest.mark.parametrize(
    ("component", "message"),
    [
        ("training = 5", "training is 5: it must be a section"),
        ('nbest = "foo"', "incparse: nbest = 'foo' must be a whole number"),
        ("nbest = -1", "incparse: nbest = -1 must be a whole number of 0 or more"),
        ("set_tags = 3", "incparse: set_tags = 3 must be true or false"),
        ('spans_keys = "x"', "there is no setting 'spans_keys' of the component incparse: the settings are factory,"),
        ("measures = true", "measures need a generative model"),
        ("[components.incparse.search]\nbeam = 3", "'beam' is not a search setting"),
        ("[components.incparse.training]\nfoo = 3", "there is no setting 'foo' of training"),
    ],
)
def test_wrong_sections_of_a_config(write, component, message):
    path = write(
        "s.cfg", f'[nlp]\nlang = "en"\n[components]\n[components.incparse]\nfactory = "incparse"\n{component}\n'
    )
    with pytest.raises(ConfigError, match=f"{re.escape(str(path))}: {message}"):
        read_recipe(str(path))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[broken", "s.cfg: Config validation error"),
        ("[nlp]\npipeline = []\n[components]\n", 'no component with factory = "incparse"'),
        ('[nlp]\n[components]\n[components.x]\nfactory = "incparse_neural"\n', "s.cfg: this is the config of a neural"),
        ('[nlp]\nlang = ${paths.nope}\n[components]\n[components.x]\nfactory = "incparse"\n', "s.cfg: "),
    ],
)
def test_what_is_no_config_is_told_in_one_line(write, content, message):
    with pytest.raises(ConfigError) as caught:
        read_recipe(str(write("s.cfg", content)))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_components_settings_are_taken_over(write):
    options = {"set_tags": True, "spans_key": "p", "required_key": "r", "forbidden_key": "f", "nbest": 2}
    lines = "\n".join(f"{key} = {json.dumps(value)}" for key, value in options.items())
    head = '[nlp]\nlang = "en"\n[components]\n[components.incparse]\nfactory = "incparse"\n'
    assert read_recipe(str(write("s.cfg", head + lines))).options == options


def test_where_a_json_file_is_wrong(write):
    path = write("s.json", '{"seed": 1,\n "n_folds" 2}')
    with pytest.raises(ConfigError, match=re.escape(f"{path}: line 2, column 12: this is not valid JSON: ")):
        read_recipe(str(path))
    with pytest.raises(ConfigError, match=re.escape("'seed' is given twice")):
        read_recipe(str(write("s.json", '{"seed": 1, "n_folds": 2, "seed": 2}')))
    with pytest.raises(ConfigError, match=re.escape(f"{path}: gamma is inf: it must be a finite number, or None")):
        read_recipe(str(write("s.json", '{"gamma": 1e400}')))
    assert read_recipe(str(write("S.JSON", '{"seed": 7}'))).training["seed"] == 7
    assert read_recipe(str(write("bom.json", '\ufeff{"seed": 5}'))).training["seed"] == 5
