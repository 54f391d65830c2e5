import json
from math import inf

import pytest

from spacy_incparse.errors import ConfigError
from spacy_incparse.incremental.config import UPDATES, ParserConfig
from spacy_incparse.settings import MOST


@pytest.mark.parametrize("name", ["beam_size", "outcome_filter_min_count", "n_tags", "n_models", "train_beam_size"])
def test_whole_numbers_fit_into_the_compiled_code(name):
    assert getattr(ParserConfig(**{name: MOST}), name) == MOST == 1_000_000_000
    with pytest.raises(ConfigError, match=f"{name} is 1000000001: .* at most 1000000000"):
        ParserConfig(**{name: MOST + 1})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"update": "late"}, "update is 'late': .*early, max_violation, full"),
        ({"beam_size": 0}, "beam_size is 0: .* at least 1"),
        ({"train_beam_size": 0}, "train_beam_size is 0: .* at least 1"),
        ({"n_tags": 0}, "n_tags is 0: .* at least 1"),
        ({"n_models": 0}, "n_models is 0: .* at least 1"),
        ({"gold_tag_interval": -1}, "gold_tag_interval is -1: .* at least 0"),
        ({"outcome_filter_min_count": -1}, "outcome_filter_min_count is -1: .* at least 0"),
        ({"table_bits": "20"}, "table_bits is '20': .* whole number"),
        ({"table_bits": 7}, "table_bits is 7: .* at least 8"),
        ({"table_bits": 29}, "table_bits is 29: .* at most 28"),
        ({"gamma": -0.5}, "gamma is -0.5: .* at least 0"),
        ({"gamma": inf}, r"gamma is inf: .*None \(in files null\)"),
        ({"gamma": 10**400}, r"gamma is 10*: .* at most 1e\+300"),
        ({"margin": 1e300}, r"margin is 1e\+300: .* at most 1000000000"),
        ({"outcome_filter_min_share": -0.1}, "outcome_filter_min_share is -0.1: .* at least 0"),
        ({"outcome_filter_min_share": 1.5}, "outcome_filter_min_share is 1.5: .* at most 1"),
        ({"train_generative_weight": 1e5}, "train_generative_weight is 100000.0: .* at most 10000"),
        ({"train_generative_weight": 5, "generative_weight": 1e5}, "generative_weight is 100000.0: .* at most 10000"),
        ({"generative_weight": 5}, "generative_weight is 5, but only hybrids use it"),
        ({"features": "bad"}, "unknown feature set 'bad'"),
        ({"features": None}, "features is None: .* a named set, or lists of templates"),
        ({"features": {"node": "L10"}}, "a named set, or lists of templates"),
        ({"clusters": 5}, "clusters is 5: .* language's code or the path of a file"),
    ],
)
def test_wrong_values_are_named(settings, message):
    with pytest.raises(ConfigError, match=message):
        ParserConfig(**settings)


def test_extremes_are_allowed():
    extremes = {"gamma": None, "train_gamma": None, "outcome_filter_min_share": 1, "table_bits": 8, "beam_size": 1}
    config = ParserConfig(**extremes)
    assert {name: getattr(config, name) for name in extremes} == extremes


def test_only_search_settings_that_exist_change_after_training():
    with pytest.raises(ConfigError, match=r"unknown setting 'beam': .*beam_size"):
        ParserConfig.from_dict({"beam": 8})
    with pytest.raises(ConfigError, match=r"'table_bits' is not a search setting: .*beam_size, gamma"):
        ParserConfig().with_search(table_bits=9)
    with pytest.raises(ConfigError, match="beam_size is 0"):
        ParserConfig().with_search(beam_size=0)
    config = ParserConfig(table_bits=12)
    changed = config.with_search(beam_size=3, gamma=None)
    assert (changed.beam_size, changed.gamma, changed.table_bits) == (3, None, 12)
    assert config.with_search() == config == ParserConfig(table_bits=12)


def test_json_and_back():
    config = ParserConfig(features={"node": ["L10 LKP"]}, gamma=None, update=UPDATES[1])
    assert ParserConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config
    assert ParserConfig.from_dict({}) == ParserConfig()
