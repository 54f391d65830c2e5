"""The base class of the parsers' settings, and checks of values for all settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, ClassVar, TypeVar

from spacy_incparse.errors import ConfigError

MOST = 1_000_000_000  # the largest whole number: the compiled code has 32 bits for it
MOST_SEED = 2**63 - 1  # seeds are stored in files, but not used by the compiled code

AnySettings = TypeVar("AnySettings", bound="Settings")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings of a parser: search settings can be changed after training, the others belong to the model."""

    SEARCH: ClassVar[tuple[str, ...]] = ()
    """The names of the search settings."""
    INSTEAD: ClassVar[Mapping[str, str]] = {}
    """Search settings of other parsers, and what there is instead of them."""

    def with_search(self: AnySettings, **settings: object) -> AnySettings:
        """Return a copy with other search settings. Raises ConfigError for settings that the trained model fixes."""
        for name in settings:
            if name in self.INSTEAD:
                raise ConfigError(f"{name!r} is not a search setting of this kind of parser: {self.INSTEAD[name]}")
            if name not in self.SEARCH:
                raise ConfigError(f"{name!r} is not a search setting: choose from {', '.join(self.SEARCH)}")
        return replace(self, **settings)

    def to_dict(self) -> dict[str, Any]:
        """Return all settings as a JSON-serializable dict."""
        return asdict(self)

    @classmethod
    def from_dict(cls: type[AnySettings], data: dict[str, Any]) -> AnySettings:
        """Return the settings in a dict. Raises ConfigError for an unknown name."""
        known = cls.names()
        for name in data:
            if name not in known:
                raise ConfigError(f"unknown setting {name!r}: the settings are {', '.join(sorted(known))}")
        return cls(**data)

    @classmethod
    def names(cls) -> frozenset[str]:
        """Return the names of all settings."""
        return frozenset(field.name for field in fields(cls))


def check_number(name: str, value: Any, least: float, most: float, *, is_whole: bool = True) -> None:
    """Raise ConfigError unless a value is a number, whole if required, from `least` to `most`."""
    if isinstance(value, bool) or not isinstance(value, int if is_whole else (int, float)):
        raise ConfigError(f"{name} is {value!r}: it must be a {'whole ' if is_whole else ''}number")
    if not value >= least:  # "not", so that NaN is refused too
        raise ConfigError(f"{name} is {value!r}: it must be at least {least}")
    if value > most:
        raise ConfigError(f"{name} is {value!r}: it must be at most {most}")


def check_choice(name: str, value: Any, choices: Iterable[str], *, may_be_none: bool = False) -> None:
    """Raise ConfigError unless a value is one of some texts, or None where that is allowed."""
    known = tuple(choices)
    if value not in known and not (value is None and may_be_none):
        or_none = ", or None" if may_be_none else ""
        raise ConfigError(f"{name} is {value!r:.60}: it must be one of {', '.join(known)}{or_none}")


def checked_labels(name: str, value: Any) -> tuple[str, ...]:
    """Return a setting that is a list of labels as a tuple. Raises ConfigError for anything else."""
    if not is_list_of_strings(value):
        raise ConfigError(f"{name} is {value!r}: it must be a list of labels")
    return tuple(value)


def check_range(name: str, value: Any, least: float, most: float, *, may_be_none: bool = False) -> None:
    """Raise ConfigError unless a value is a number from `least` to `most`, or None where that is allowed."""
    if value is None and may_be_none:
        return
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
        or_none = ", or None" if may_be_none else ""
        raise ConfigError(f"{name} is {value!r}: it must be a number from {least:g} to {most:g}{or_none}")


def is_list_of_strings(value: Any) -> bool:
    """Return whether a value is a list or tuple of strings."""
    return isinstance(value, list | tuple) and all(isinstance(text, str) for text in value)
