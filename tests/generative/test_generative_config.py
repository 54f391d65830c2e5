"""Settings of a generative parser that are wrong."""

import pytest

from spacy_incparse.errors import ConfigError
from spacy_incparse.generative.kind import GenerativeConfig


@pytest.mark.parametrize("name", ["beam_size", "measures_beam_size", "choose_trees", "context_min_count"])
def test_whole_numbers_fit_into_the_compiled_code(name):
    assert getattr(GenerativeConfig(**{name: 10**9}), name) == 10**9
    with pytest.raises(ConfigError, match=f"{name} is 10000000000: it must be at most 1000000000"):
        GenerativeConfig(**{name: 10**10})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"beam_size": -1}, "beam_size is -1: it must be at least 0"),
        ({"choose_trees": 2.5}, "choose_trees is 2.5: it must be a whole number"),
        ({"choose_temperature": 0}, "choose_temperature is 0: it must be a number from 0.01 to 1e\\+06, or None"),
        ({"choose": "risk"}, "choose is 'risk': choose one of score, expected_f"),
        ({"gamma": 2}, "gamma is 2: it must be a number from 0 to 1, or None"),
    ],
)
def test_wrong_values_are_named(settings, message):
    with pytest.raises(ConfigError, match=message):
        GenerativeConfig(**settings)


def test_filters_may_be_off():
    assert GenerativeConfig(gamma=None).gamma is None
