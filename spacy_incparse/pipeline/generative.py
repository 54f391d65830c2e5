"""The generative model as a component's parser: its settings among those of training, and its training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.features.templates import NAMED_SETS
from spacy_incparse.generative.generative_config import GenerativeConfig
from spacy_incparse.perceptron.perceptron_config import ParserConfig
from spacy_incparse.pipeline.parser_training import TRAINING_DEFAULTS, check_other_settings, head_rules, own_settings
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from spacy_incparse.generative.generative_parser import GenerativeParser

GENERATIVE = "generative"  # in the place of a feature set: the generative model instead of a perceptron


def is_generative(settings: dict[str, Any]) -> bool:
    """Say whether settings of training are those of a generative model."""
    return settings.get("features") == GENERATIVE


def generative_config(settings: dict[str, Any]) -> GenerativeConfig:
    """Return the model's part of the settings. Raises ConfigError for a name that is no setting."""
    return GenerativeConfig.from_dict(own_settings(settings, GenerativeConfig))


def train_generative(trees: Sequence[Tree], settings: dict[str, Any], *, lang: str) -> GenerativeParser:
    """Train on normalised trees, in one pass."""
    from spacy_incparse.generative.generative_parser import GenerativeParser

    return GenerativeParser.train(trees, generative_config(settings), head_rules(settings["heads"], lang))


def check_search(settings: dict[str, Any]) -> None:
    """Raise ConfigError where settings of the search are good for neither kind of parser."""
    generative = [name for name in settings if name in GenerativeConfig.SEARCH and name not in ParserConfig.SEARCH]
    others = [name for name in settings if name in ParserConfig.SEARCH and name not in GenerativeConfig.SEARCH]
    if generative and others:
        raise ConfigError(f"{generative[0]!r} belongs to generative parsers, {others[0]!r} to others: give one of them")
    if generative:
        GenerativeConfig().with_search(**settings)
        return
    try:
        ParserConfig(train_generative_weight=1.0).with_search(**settings)
    except ConfigError:
        if others or not _is_generative_search(settings):
            raise


def _is_generative_search(settings: dict[str, Any]) -> bool:
    try:
        GenerativeConfig().with_search(**settings)
    except ConfigError:
        return False
    return True


def check_training(settings: dict[str, Any], others: Sequence[str] = ()) -> None:
    """Raise ConfigError where settings of training do not exist or cannot have their values. No file is read.

    What is not given has its default. `others` are named as settings as well where one does not exist.
    """
    settings = TRAINING_DEFAULTS | settings
    features, config = settings["features"], GenerativeConfig if is_generative(settings) else ParserConfig
    if isinstance(features, str) and features not in (*NAMED_SETS, GENERATIVE):
        raise ConfigError(f"there is no feature set {features!r}: choose one of {', '.join((*NAMED_SETS, GENERATIVE))}")
    check_other_settings(settings)
    config.from_dict(own_settings(settings, config, others))


def generative_parser(parser: Any, name: str) -> GenerativeParser:
    """Return a component's parser if it is generative.

    Raises IncparseError for another one: its scores are no probabilities, so there is no surprisal in them.
    """
    from spacy_incparse.generative.generative_parser import GenerativeParser

    if not isinstance(parser, GenerativeParser):
        raise IncparseError(
            f"the parser of {name!r} gives no probabilities of words, so that there are no measures: take a generative "
            f"one, such as 'en_generative', or train one (spacy-incparse train ... --config generative)"
        )
    return parser
