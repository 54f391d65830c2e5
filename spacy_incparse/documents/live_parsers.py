"""The parser components that are alive in this process. Docs refer to none of them."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from spacy_incparse.pipeline.parser_pipe import IncParser

_numbers = count()
_components: WeakKeyDictionary[IncParser, int] = WeakKeyDictionary()


def register(component: IncParser) -> None:
    """Remember a component as long as somebody else has it."""
    _components[component] = next(_numbers)


def live_components() -> list[IncParser]:
    """Return the components in the order in which they were made."""
    return sorted(_components, key=lambda component: _components[component])


def mirror_names() -> set[str]:
    """Return the names under which any of them writes phrases to `doc.spans`."""
    return {component.spans_key for component in _components if component.spans_key is not None}
