"""The registry of kinds of parsers.

A kind is an instance of `ParserKind`. This package registers its own as entry points of the group
"spacy_incparse_parser_kinds"; another package can do the same, or call `register_kind`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import combinations
from typing import Any

import catalogue

from spacy_incparse.errors import ConfigError
from spacy_incparse.parsing.parser import ParserKind
from spacy_incparse.settings import Settings

DEFAULT = "perceptron"

_registry = catalogue.create("spacy_incparse", "parser_kinds", entry_points=True)


def register_kind(kind: ParserKind) -> None:
    """Add a kind of parser under its name."""
    _registry.register(kind.name, func=kind)
    kinds.cache_clear()


@lru_cache(maxsize=1)
def kinds() -> dict[str, ParserKind]:
    """Return all kinds by name, the default first."""
    found: dict[str, ParserKind] = _registry.get_all()
    return {name: found[name] for name in sorted(found, key=lambda name: (name != DEFAULT, name))}


def find_kind(name: str) -> ParserKind:
    """Return the kind with this name. Raises ConfigError if the name is unknown."""
    if not isinstance(name, str) or name not in kinds():
        raise ConfigError(f"kind is {name!r}: it must be one of {', '.join(kinds())}")
    return kinds()[name]


def kind_of(settings: Mapping[str, Any]) -> ParserKind:
    """Return the kind of parser that training settings name; by default, a perceptron."""
    name = settings.get("kind")
    return find_kind(DEFAULT if name is None else name)


def kind_of_config(config: Settings) -> ParserKind:
    """Return the kind of parser that a configuration is for."""
    return next(kind for kind in kinds().values() if kind.config_type is type(config))


def recipes() -> dict[str, tuple[ParserKind, Mapping[str, Any]]]:
    """Return the recipes for `--config`: a kind of parser, and the settings that differ from its defaults."""
    return {name: (kind, recipe) for kind in kinds().values() for name, recipe in kind.recipes.items()}


def check_search(settings: Mapping[str, Any]) -> None:
    """Raise ConfigError if no kind of parser accepts all of these search settings."""
    errors = []
    for kind in kinds().values():
        try:
            kind.check_search(settings)
        except ConfigError as error:
            errors.append((kind, error))
        else:
            return
    fitting = [error for kind, error in errors if set(settings) <= set(kind.config_type.SEARCH)]
    if fitting:
        raise fitting[0]
    # No single kind has all of them: two that belong to different kinds are named.
    owners = {
        name: [kind.name for kind in kinds().values() if name in kind.config_type.SEARCH] for name in sorted(settings)
    }
    for name, other in combinations(owners, 2) if all(owners.values()) else ():
        if not set(owners[name]) & set(owners[other]):
            raise ConfigError(
                f"{name!r} belongs to {' and '.join(owners[name])} parsers, {other!r} to "
                f"{' and '.join(owners[other])} parsers: give one of them"
            )
    raise errors[0][1]
