"""An attribute of components that is checked when it is set."""

from __future__ import annotations

from typing import Any

from spacy_incparse.errors import ConfigError


class GroupName:
    """An attribute of a component that names a group of doc.spans, or is None."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, component: Any, owner: type) -> Any:
        if component is None:
            return self
        if self._name not in component.__dict__:
            raise AttributeError(self._name)
        return component.__dict__[self._name]

    def __set__(self, component: Any, value: str | None) -> None:
        if not (value is None or isinstance(value, str)):
            raise ConfigError(f"{component.name}: {self._name} = {value!r} must be a name, or None")
        component.__dict__[self._name] = value
