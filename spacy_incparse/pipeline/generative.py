"""The generative model as a component's parser: its settings among those of training, and its training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.generative.config import GenerativeConfig
from spacy_incparse.pipeline.training import OTHER_SETTINGS, head_rules
from spacy_incparse.search.config import ParserConfig
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from spacy_incparse.generative.parser import GenerativeParser

GENERATIVE = "generative"  # in the place of a feature set: the generative model instead of a perceptron


def is_generative(settings: dict[str, Any]) -> bool:
    """Say whether settings of training are those of a generative model."""
    return settings.get("features") == GENERATIVE


def generative_config(settings: dict[str, Any]) -> GenerativeConfig:
    """Return the model's part of the settings. Raises ConfigError for a name that is no setting."""
    own = {key: value for key, value in settings.items() if key not in (*OTHER_SETTINGS, "features")}
    return GenerativeConfig.from_dict(own)


def train_generative(trees: Sequence[Tree], settings: dict[str, Any], *, lang: str) -> GenerativeParser:
    """Train on normalised trees, in one pass."""
    from spacy_incparse.generative.parser import GenerativeParser

    return GenerativeParser.train(trees, generative_config(settings), head_rules(settings["heads"], lang))


def check_search(settings: dict[str, Any]) -> None:
    """Raise ConfigError where settings of the search are good for neither kind of parser."""
    try:
        ParserConfig(train_generative_weight=1.0).with_search(**settings)
    except ConfigError:
        try:
            GenerativeConfig().with_search(**settings)
        except ConfigError:
            pass
        else:
            return
        raise


def generative_parser(parser: Any, name: str) -> GenerativeParser:
    """Return a component's parser if it is generative.

    Raises IncparseError for another one: its scores are no probabilities, so there is no surprisal in them.
    """
    from spacy_incparse.generative.parser import GenerativeParser

    if not isinstance(parser, GenerativeParser):
        raise IncparseError(
            f"the parser of {name!r} gives no probabilities of words, so that there are no measures: take a generative "
            f"one, such as 'en_generative', or train one (spacy-incparse train ... --config generative)"
        )
    return parser
