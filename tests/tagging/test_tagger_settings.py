"""The settings of the tagger's training are checked before it begins."""

import inspect
from pathlib import Path

import pytest

from spacy_incparse.errors import ConfigError
from spacy_incparse.linear.clusters import Clusters
from spacy_incparse.tagging.tagger import SETTINGS, Tagger, check_settings

COUNTS = ("n_epochs", "seed", "beam_size", "margin", "class_min_count", "only_min_count")


def test_all_settings_are_checked():
    parameters = set(inspect.signature(Tagger.train).parameters)
    assert set(SETTINGS) == parameters - {"sentences", "tags", "progress"}


def test_the_defaults_are_good():
    defaults = {name: inspect.signature(Tagger.train).parameters[name].default for name in SETTINGS}
    check_settings(defaults)
    check_settings({})


@pytest.mark.parametrize("clusters", ["en", Path("clusters.txt"), Clusters.from_paths([])])
def test_clusters_of_all_kinds(clusters):
    check_settings({"clusters": clusters})


@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.parametrize("value", ["5", 1.5, True, None, [], {}])
def test_numbers_are_whole(name, value):
    with pytest.raises(ConfigError, match=f"the tagger's {name} is .*: it must be a whole number"):
        check_settings({name: value})


@pytest.mark.parametrize("name", COUNTS)
def test_numbers_have_bounds(name):
    with pytest.raises(ConfigError, match=f"the tagger's {name} is -1: it must be at least "):
        check_settings({name: -1})
    with pytest.raises(ConfigError, match=f"the tagger's {name} is 10{'0' * 20}: it must be at most "):
        check_settings({name: 10**21})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"only_min_share": -0.1}, "the tagger's only_min_share is -0.1: it must be at least 0"),
        ({"only_min_share": 1.5}, "the tagger's only_min_share is 1.5: it must be at most 1"),
        ({"only_min_share": "all"}, "the tagger's only_min_share is 'all': it must be a number"),
        ({"templates": "word[0]"}, "the tagger's templates are 'word.0.': they must be a list of templates, or None"),
        ({"templates": 3}, "the tagger's templates are 3: they must be a list of templates"),
        ({"templates": [1]}, "the tagger's templates are .1.: they must be a list of templates"),
        ({"templates": ["wrod[0]"]}, "is not an atom"),
        ({"clusters": []}, r"the tagger's clusters is \[\]: it must be a language code, the path of a file"),
        ({"layers": 3}, "the tagger has no setting 'layers': choose from n_epochs, seed"),
        ({"progress": 3}, "the tagger has no setting 'progress'"),
        ({"tags": 3}, "the tagger has no setting 'tags'"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(ConfigError, match=message):
        check_settings(settings)


@pytest.mark.parametrize("settings", [{"margin": -1}, {"n_epochs": "5"}, {"beam_size": 10**9}, {"only_min_share": 2}])
def test_training_checks_them(settings):
    with pytest.raises(ConfigError, match=f"the tagger's {next(iter(settings))} is "):
        Tagger.train([["a"]], [["X"]], **settings)
