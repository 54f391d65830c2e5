"""Settings of the reranker's training: their defaults and checks. No compiled module is needed for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spacy_incparse.errors import ConfigError
from spacy_incparse.rerank.families import check_families
from spacy_incparse.settings import MOST, check_number

LOSSES = ("risk", "log", "boost", "log-greedy", "perceptron")
CHOICES = ("score", "expected_f")
SCORES = ("generative", "chart")  # the names in rerank.second_scores.SECOND_SCORES
DEFAULT_SCORES = ("generative",)  # of the command: a chart parser in each fold takes long
WEIGHTING_LOSSES = ("risk", "log")  # those that learn a weight for each score

RERANK_DEFAULTS: dict[str, Any] = {
    "loss": "risk",  # what is learned: "risk" (expected F), "log", "boost", "log-greedy", "perceptron"; or several
    "learner": {},  # settings of the learner; those that are not given are chosen by cross-validation
    "scores": None,  # names of scores beside the parser's: "generative", "chart"; None: those that the lists have
    "families": None,  # names of families of features, or of groups of them, or a list of such lists; None: the default
    "max_count": 4,  # a count c of a feature is the features >= 1, ..., >= min(c, max_count)
    "min_lists": 5,  # features of fewer lists are left out
    "n": 20,  # how many analyses of each sentence are looked at; fewer if that is better in cross-validation
    "choose": None,  # "score": the most probable tree; "expected_f": that of the best expected F; None: the better way
    "n_folds": 5,  # of the cross-validation over the lists
}
"""The settings of training with their defaults. Of several losses and lists of families, cross-validation takes one."""


def check_reranking(training: Mapping[str, Any], search: Mapping[str, Any] | None = None) -> None:
    """Raise ConfigError for settings that do not exist or have wrong values. Missing settings have their defaults."""
    for name in training:
        if name not in RERANK_DEFAULTS:
            known = ", ".join(sorted(RERANK_DEFAULTS))
            raise ConfigError(f"there is no setting {name!r} of the reranker's training: the settings are {known}")
    for name in search or {}:
        if name not in ("n", "choose"):
            raise ConfigError(f"{name!r} is not a setting of the reranker's search: choose from n, choose")
    settings = RERANK_DEFAULTS | dict(training) | dict(search or {})
    _check_losses(settings["loss"])
    if settings["scores"] is not None:
        for loss in losses(settings):
            _check_scores(settings["scores"], loss)
    if settings["choose"] is not None:
        _check_name("choose", settings["choose"], CHOICES)
    check_number("max_count", settings["max_count"], 1, 100)
    check_number("min_lists", settings["min_lists"], 1, MOST)
    check_number("n", settings["n"], 1, 100)
    check_number("n_folds", settings["n_folds"], 2, MOST)
    if not isinstance(settings["learner"], dict):
        raise ConfigError(f"learner is {settings['learner']!r}: it must be a dict of settings of the learner")
    for families in family_choices(settings):
        if families is not None:
            check_families(families)


def losses(training: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the losses to choose from."""
    loss = training["loss"]
    return (loss,) if isinstance(loss, str) else tuple(loss)


def family_choices(training: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the choices of families of features to choose from; None is the default choice."""
    families = training["families"]
    has_lists = isinstance(families, (list, tuple)) and any(isinstance(one, (list, tuple)) for one in families)
    return tuple(families) if has_lists else (families,)


def _check_losses(loss: Any) -> None:
    names = [loss] if isinstance(loss, str) else loss
    if not isinstance(names, (list, tuple)) or not names or len(set(map(str, names))) < len(names):
        raise ConfigError(f"loss is {loss!r}: it must be a name, or a list of different names, of {', '.join(LOSSES)}")
    for name in names:
        _check_name("loss", name, LOSSES)


def _check_scores(names: Any, loss: str) -> None:
    if not isinstance(names, (list, tuple)) or len(set(map(str, names))) < len(names):
        raise ConfigError(f"scores is {names!r}: it must be a list of different names of {', '.join(SCORES)}")
    for name in names:
        _check_name("scores", name, SCORES)
    if names and loss not in WEIGHTING_LOSSES:
        known = " and ".join(WEIGHTING_LOSSES)
        raise ConfigError(f"the loss {loss!r} learns no weights of scores beside the parser's: {known} do")


def _check_name(name: str, value: Any, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ConfigError(f"{name} is {value!r}: it must be one of {', '.join(known)}")
