"""What the settings of all parsers and taggers have in common: their form, and checks of their values."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Any, ClassVar, TypeVar

from spacy_incparse.errors import ConfigError

MOST = 1_000_000_000  # of whole numbers, which have to fit into 32 bits of the compiled code
MOST_SEED = 2**63 - 1  # seeds do not get there, but into files

AnySettings = TypeVar("AnySettings", bound="Settings")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings of a parser: those of the search may be changed after training, the others belong to the model."""

    SEARCH: ClassVar[tuple[str, ...]] = ()
    """The names of those of the search."""

    def with_search(self: AnySettings, **settings: object) -> AnySettings:
        """Give a copy with other search settings. Raises ConfigError for what belongs to the trained model."""
        for name in settings:
            if name not in self.SEARCH:
                raise ConfigError(f"{name!r} is no search setting: choose among {', '.join(self.SEARCH)}")
        return replace(self, **settings)

    def to_dict(self) -> dict[str, Any]:
        """Give all settings as a dict, fit for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls: type[AnySettings], data: dict[str, Any]) -> AnySettings:
        """Make settings from a dict. Raises ConfigError for a name that is no setting."""
        known = {f.name for f in fields(cls)}
        for name in data:
            if name not in known:
                raise ConfigError(f"there is no setting {name!r}: the settings are {', '.join(sorted(known))}")
        return cls(**data)


def check_number(name: str, value: Any, least: float, most: float, *, is_whole: bool = True) -> None:
    """Raise ConfigError for what is no number, is a fraction where it must be whole, or is too small or too large."""
    if isinstance(value, bool) or not isinstance(value, int if is_whole else (int, float)):
        raise ConfigError(f"{name} is {value!r}: it must be a {'whole ' if is_whole else ''}number")
    if not value >= least:  # "not", so that NaN is refused too
        raise ConfigError(f"{name} is {value!r}: it must be at least {least}")
    if value > most:
        raise ConfigError(f"{name} is {value!r}: it must be at most {most}")


def checked_labels(name: str, value: Any) -> tuple[str, ...]:
    """Return a setting that is a list of labels as a tuple. Raises ConfigError for anything else."""
    if not is_list_of_strings(value):
        raise ConfigError(f"{name} is {value!r}: it must be a list of labels")
    return tuple(value)


def check_range(name: str, value: Any, least: float, most: float, *, may_be_none: bool = False) -> None:
    """Raise ConfigError for what is no number from `least` to `most`; None may be allowed besides."""
    if value is None and may_be_none:
        return
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
        or_none = ", or None" if may_be_none else ""
        raise ConfigError(f"{name} is {value!r}: it must be a number from {least:g} to {most:g}{or_none}")


def is_list_of_strings(value: Any) -> bool:
    """Say whether something is a list (or tuple) of strings."""
    return isinstance(value, list | tuple) and all(isinstance(text, str) for text in value)
