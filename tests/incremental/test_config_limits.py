"""Settings of a parser that are too large, or of the wrong kind."""

from math import inf

import pytest

from spacy_incparse.errors import ConfigError
from spacy_incparse.incremental.config import ParserConfig
from spacy_incparse.settings import MOST

COUNTS = (
    "beam_size",
    "outcome_filter_min_count",
    "n_tags",
    "train_beam_size",
)


@pytest.mark.parametrize("name", COUNTS)
def test_whole_numbers_fit_into_the_compiled_code(name):
    assert getattr(ParserConfig(**{name: MOST}), name) == MOST == 1_000_000_000
    with pytest.raises(ConfigError, match=f"{name} is 10000000000: it must be at most 1000000000"):
        ParserConfig(**{name: 10**10})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"outcome_filter_min_share": 1.5}, "outcome_filter_min_share is 1.5: it must be at most 1"),
        ({"gamma": inf}, r"gamma is inf: it must be a finite number, or None \(in files null\) for no filter"),
        ({"train_gamma": inf}, "train_gamma is inf: it must be a finite number"),
        ({"gamma": 10**400}, r"gamma is 10*: it must be at most 1e\+300"),
        ({"margin": inf}, "margin is inf: it must be at most 1000000000"),
        ({"margin": 1e300}, r"margin is 1e\+300: it must be at most 1000000000"),
        ({"train_generative_weight": 1e5}, "train_generative_weight is 100000.0: it must be at most 10000"),
        ({"train_generative_weight": 5, "generative_weight": 1e5}, "generative_weight is 100000.0: it must be at most"),
    ],
)
def test_wrong_values_are_named(settings, message):
    with pytest.raises(ConfigError, match=message):
        ParserConfig(**settings)


def test_the_filter_may_be_off_and_a_share_whole():
    config = ParserConfig(gamma=None, train_gamma=None, outcome_filter_min_share=1)
    assert (config.gamma, config.train_gamma, config.outcome_filter_min_share) == (None, None, 1)
