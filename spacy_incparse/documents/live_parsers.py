"""The parser components that are alive in this process, and what Docs ask of them. Docs refer to none of them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import TYPE_CHECKING, Protocol
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc
    from spacy.training import Example
    from spacy.vocab import Vocab

    from spacy_incparse.documents.configured_parser import ConfiguredParser
    from spacy_incparse.documents.sentences import Sentence
    from spacy_incparse.parsers.parse import Tags


class LiveParser(Protocol):
    """A parser component, as far as Docs know it."""

    vocab: Vocab
    name: str
    spans_key: str | None

    @property
    def decoder(self) -> ConfiguredParser:
        """The parser with the component's settings. Raises IncparseError where there are no weights."""

    def sentences_of(self, doc: Doc) -> list[Sentence]:
        """Return the sentences of a Doc with the constraints on them."""

    def with_constraints(self, doc: Doc, sentence: Sentence) -> Sentence:
        """Return a sentence with the constraints that are on its Doc now."""

    def tags_for(self, sentence: Sentence) -> Tags:
        """Return the tags that a sentence is parsed under."""

    def calibrate(self, examples: Iterable[Example]) -> float | None:
        """Fit the temperature on examples, and return it."""


_numbers = count()
_components: WeakKeyDictionary[LiveParser, int] = WeakKeyDictionary()


def register(component: LiveParser) -> None:
    """Remember a component as long as somebody else has it."""
    _components[component] = next(_numbers)


def live_components() -> list[LiveParser]:
    """Return the components in the order in which they were made."""
    return sorted(_components, key=lambda component: _components[component])


def components_of(nlp: Language) -> list[LiveParser]:
    """Return the parser components of a pipeline, in its order."""
    pipes = {id(pipe): i for i, (_, pipe) in enumerate(nlp.pipeline)}
    return sorted((one for one in _components if id(one) in pipes), key=lambda one: pipes[id(one)])


def mirror_names() -> set[str]:
    """Return the names under which any of them writes phrases to `doc.spans`."""
    return {component.spans_key for component in _components if component.spans_key is not None}
