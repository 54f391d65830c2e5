"""The settings of the tagger's training, and checks of their values."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spacy_incparse.errors import ConfigError
from spacy_incparse.lexicon.clusters import Clusters
from spacy_incparse.settings import MOST, MOST_SEED, check_number, is_list_of_strings
from spacy_incparse.tagging.tagger_templates import parse_template

MOST_HYPOTHESES = 10_000  # the search has room for this many at every word


def check_settings(settings: Mapping[str, Any]) -> None:
    """Raise ConfigError for an unknown setting of `Tagger.train` or an invalid value."""
    for name in settings:
        if name not in SETTINGS:
            raise ConfigError(f"the tagger has no setting {name!r}: choose from {', '.join(SETTINGS)}")
    for name, value in settings.items():
        if name in _WHOLE:
            check_number(f"the tagger's {name}", value, *_WHOLE[name])
    check_number("the tagger's only_min_share", settings.get("only_min_share", 1), 0, 1, is_whole=False)
    _check_templates(settings.get("templates"))
    _check_clusters(settings.get("clusters"))


def _check_templates(templates: Any) -> None:
    if templates is None:
        return
    if not is_list_of_strings(templates):
        raise ConfigError(f"the tagger's templates are {templates!r}: they must be a list of templates, or None")
    for text in templates:
        parse_template(text)


def _check_clusters(clusters: Any) -> None:
    if not (clusters is None or isinstance(clusters, Clusters | str | Path)):
        raise ConfigError(
            f"the tagger's clusters is {clusters!r}: it must be a language code, the path of a file, or None"
        )


# The minimum and maximum of each whole number.
_WHOLE = {
    "n_epochs": (1, MOST), "seed": (0, MOST_SEED), "beam_size": (1, MOST_HYPOTHESES), "margin": (0, MOST),
    "class_min_count": (0, MOST), "only_min_count": (0, MOST),
}  # fmt: skip
SETTINGS = (*_WHOLE, "only_min_share", "templates", "clusters")
