import json

import pytest

from spacy_incparse.errors import ConfigError
from spacy_incparse.incremental.config import UPDATES, ParserConfig


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"update": "late"}, "update is 'late': choose one of early, max_violation, full"),
        ({"beam_size": 0}, "beam_size is 0: it must be at least 1"),
        ({"train_beam_size": -3}, "train_beam_size is -3: it must be at least 1"),
        ({"gamma": -0.5}, "gamma is -0.5: it must be at least 0"),
        ({"gamma": float("nan")}, "gamma is nan: it must be at least 0"),
        ({"train_gamma": float("nan")}, "train_gamma is nan"),
        ({"beam_size": True}, "beam_size is True: it must be a whole number"),
        ({"beam_size": 2.5}, "beam_size is 2.5: it must be a whole number"),
        ({"beam_size": None}, "beam_size is None: it must be a whole number"),
        ({"table_bits": "20"}, "table_bits is '20': it must be a whole number"),
        ({"gamma": "12"}, "gamma is '12': it must be a number"),
        ({"gamma": False}, "gamma is False: it must be a number"),
        ({"outcome_filter_min_share": None}, "outcome_filter_min_share is None: it must be a number"),
        ({"features": "bad"}, "unknown feature set 'bad'"),
        ({"features": None}, "features is None: it must be a named set, or lists of templates by their kinds"),
        ({"features": {"node": "L10"}}, "it must be a named set, or lists"),
        ({"features": {"node": ["L10 L99"]}}, "unknown field 'L99'"),
        ({"table_bits": 7}, "table_bits is 7: it must be at least 8"),
        ({"table_bits": 29}, "table_bits is 29: it must be at most 28"),
        ({"outcome_filter_min_share": -0.1}, "outcome_filter_min_share is -0.1: it must be at least 0"),
    ],
)
def test_wrong_values_are_named(settings, message):
    with pytest.raises(ConfigError, match=message):
        ParserConfig(**settings)


def test_unknown_settings_are_named():
    with pytest.raises(ConfigError, match="unknown setting 'beam': the settings are beam_size, choose"):
        ParserConfig.from_dict({"beam": 8})


@pytest.mark.parametrize("name", ["features", "table_bits", "update", "width"])
def test_only_search_settings_change_after_training(name):
    with pytest.raises(ConfigError, match=f"'{name}' is not a search setting: choose from beam_size, gamma"):
        ParserConfig().with_search(**{name: 1})


def test_other_search_settings():
    config = ParserConfig(table_bits=12)
    assert config.with_search() == config
    changed = config.with_search(beam_size=3, gamma=None)
    assert (changed.beam_size, changed.gamma, changed.table_bits) == (3, None, 12)
    assert config == ParserConfig(table_bits=12)
    with pytest.raises(ConfigError, match="beam_size is 0"):
        config.with_search(beam_size=0)


def test_json_and_back():
    config = ParserConfig(features={"node": ["L10 LKP"]}, gamma=None, update=UPDATES[1])
    again = ParserConfig.from_dict(json.loads(json.dumps(config.to_dict())))
    assert again == config
    assert ParserConfig.from_dict({}) == ParserConfig()
    assert set(ParserConfig.SEARCH) <= set(config.to_dict())
