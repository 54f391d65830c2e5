"""The live parser components of this process, and the interface that Docs use. Docs hold no reference to them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import TYPE_CHECKING, Protocol
from weakref import WeakKeyDictionary

from spacy_incparse.errors import IncparseError

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc
    from spacy.training import Example
    from spacy.vocab import Vocab

    from spacy_incparse.documents.configured_parser import ConfiguredParser
    from spacy_incparse.documents.sentences import Sentence
    from spacy_incparse.parsing.parse import Parse, Tags


class LiveParser(Protocol):
    """The part of a parser component's interface that Docs use."""

    vocab: Vocab
    name: str
    spans_key: str | None
    is_reranker: bool
    """Whether the component only chooses among the analyses of another one."""

    @property
    def decoder(self) -> ConfiguredParser:
        """The parser with the component's settings. Raises IncparseError if the component has no weights."""

    @property
    def maker(self) -> str:
        """The id that is stored with the trees it makes, of its name and weights; "" if these have not been loaded."""

    def sentences_of(self, doc: Doc) -> list[Sentence]:
        """Return the sentences of a Doc with their constraints."""

    def with_constraints(self, doc: Doc, sentence: Sentence) -> Sentence:
        """Return a sentence with the current constraints on its Doc."""

    def tags_for(self, sentence: Sentence) -> Tags:
        """Return the tags to parse a sentence with."""

    def nbest_parses(self, sentence: Sentence, k: int | None) -> list[Parse]:
        """Return up to `k` analyses of a sentence, the component's own first; never raises an error.

        k: None stands for those of one search, which probabilities are relative to.
        """

    def calibrate(self, examples: Iterable[Example]) -> float | None:
        """Fit the temperature on examples, and return it."""


_numbers = count()
_components: WeakKeyDictionary[LiveParser, int] = WeakKeyDictionary()


def register(component: LiveParser) -> None:
    """Register a component, by a weak reference."""
    _components[component] = next(_numbers)


def live_components() -> list[LiveParser]:
    """Return the components in the order of their creation."""
    return sorted(_components, key=lambda component: _components[component])


def components_of(nlp: Language) -> list[LiveParser]:
    """Return the parser components of a pipeline, in pipeline order."""
    pipes = {id(pipe): i for i, (_, pipe) in enumerate(nlp.pipeline)}
    return sorted((one for one in _components if id(one) in pipes), key=lambda one: pipes[id(one)])


def parsing_names(nlp: Language) -> list[str]:
    """Return the names that parser components have in a pipeline: one renamed while disabled keeps its old `name`."""
    return [name for name, pipe in nlp.pipeline if any(pipe is one for one in _components)]


def names_from_parsers_on(nlp: Language) -> list[str]:
    """Return the names of parser components, and of all components behind the last one, which work with its trees."""
    parsing = parsing_names(nlp)
    behind = nlp.pipe_names.index(parsing[-1]) + 1 if parsing else len(nlp.pipe_names)
    return [*parsing, *nlp.pipe_names[behind:]]


def deciding_parser(nlp: Language) -> LiveParser:
    """Return the component whose trees stay on a Doc: the last one. Raises IncparseError if there is none."""
    components = components_of(nlp)
    if not components:
        raise IncparseError("the pipeline has no component 'incparse', which finds analyses")
    return components[-1]


def mirror_names() -> set[str]:
    """Return the names of the groups in `doc.spans` that live components write phrases to."""
    return {component.spans_key for component in _components if component.spans_key is not None}
