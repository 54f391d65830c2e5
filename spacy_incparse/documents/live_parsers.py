"""The parsers that Docs can ask: those of the components that live in this process. Docs hold no reference to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakKeyDictionary
from zlib import crc32

from spacy_incparse.documents.sentences import Sentence
from spacy_incparse.errors import IncparseError
from spacy_incparse.parsing.nbest import NBestSearch
from spacy_incparse.parsing.parse import Input, Parse, Tags
from spacy_incparse.parsing.parser import Parser
from spacy_incparse.trees.codec import MAKER, TEMPERATURE, analysis_field, heads_field, named_heads
from spacy_incparse.trees.labels import UNKNOWN_TAG
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc
    from spacy.training import Example
    from spacy.vocab import Vocab

    from spacy_incparse.tagging.tagger import Tagger


class ConfiguredParser:
    """A parser with a tagger and settings; it also computes the fields stored with each tree.

    model_parser: the parser with the search settings of its model. search: settings that override them. tagger: used
    if the parser needs tags. nbest: the number of analyses to store, including the first; 0 or 1: only the tree. maker:
    the id that is stored with each tree.
    """

    def __init__(
        self, model_parser: Parser, tagger: Tagger | None = None, search: Mapping[str, Any] | None = None,
        nbest: int = 0, maker: str = "",
    ):  # fmt: skip
        self.model_parser, self.tagger, self.nbest, self.maker = model_parser, tagger, nbest, maker
        self.parser = model_parser.with_search(**search) if search else model_parser
        self._heads = named_heads(model_parser.heads)

    @cached_property
    def nbest_search(self) -> NBestSearch:
        """The search for analyses other than the parser's own."""
        return NBestSearch(self.parser)

    @cached_property
    def exact(self) -> Parser | None:
        """The parser, if it knows more about the probabilities of trees and phrases than lists of analyses tell."""
        return self.parser if self.parser.has_posterior else None

    @property
    def temperature(self) -> float | None:
        """The temperature that turns scores into probabilities; `calibrate` may change it."""
        return self.model_parser.temperature

    def inputs_of(self, sentences: Sequence[Sentence], *, use_given: bool) -> list[Input]:
        """Return what `parse` takes, with the tagger's tags, or with `use_given` the words' own where they have any."""
        untagged = [s for s in sentences if not all(s.tags)] if use_given else sentences
        words, request = list(map(attrgetter("words"), untagged)), self.parser.tag_request
        if request is None:
            guesses: Iterator[Tags] = ([None] * len(one) for one in words)
        elif self.tagger is None:
            guesses = ([UNKNOWN_TAG] * len(one) for one in words)
        else:
            guesses = iter(self.tagger.candidate_tags(words, *request) if words else ())
        found: list[Input] = []
        for s in sentences:
            tags: Tags = s.tags if use_given and all(s.tags) else next(guesses)
            if use_given and tags is not s.tags:
                tags = [given or guess for given, guess in zip(s.tags, tags, strict=True)]
            found.append((s.words, tags, s.constraints))
        return found

    def heads_field(self, tree: Tree) -> str:
        """Return the field that stores the heads of a tree."""
        return self._heads or heads_field(tree.arrays, self.model_parser.heads)

    def fields(self, parse: Parse, given: Input | None = None, others: Sequence[Parse] = ()) -> list[str]:
        """Return all fields for an analysis that is stored, with others if `nbest` asks for them.

        given: what was parsed, to search for the others.
        """
        fields = [self._heads or self.heads_field(parse.tree)]
        if self.maker:
            fields.append(MAKER + self.maker)
        if self.nbest < 2 or parse.source == "flat":
            return fields
        if given is not None:
            others = self.nbest_search.beside(parse, *given, n=self.nbest)[1:]
        if self.temperature is not None:
            fields.append(f"{TEMPERATURE}{self.temperature:.6g}")
        return fields + [analysis_field(other.tree, other.score, self.heads_field(other.tree)) for other in others]


def maker_id(name: str, *weights: str) -> str:
    """Return the id that is stored with trees: of a component's name and its weights; "" if some have none."""
    return f"{crc32(' '.join([name, *weights]).encode()):08x}" if all(weights) else ""


class LiveParser(Protocol):
    """The part of a parser component's interface that Docs and commands use."""

    vocab: Vocab
    name: str
    spans_key: str | None
    is_reranker: bool  # whether it only chooses among the analyses of another one

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

    def input_of(self, sentence: Sentence) -> Input:
        """Return what the parser takes of a sentence, with the tags to parse it with."""

    def nbest_parses(self, sentence: Sentence, k: int | None) -> list[Parse]:
        """Return up to `k` analyses of a sentence, the component's own first; never raises an error.

        k: None stands for those of one search, which probabilities are relative to.
        """

    def calibrate(self, examples: Iterable[Example]) -> float | None:
        """Fit the temperature on examples, and return it."""


_components: WeakKeyDictionary[LiveParser, None] = WeakKeyDictionary()


def register(component: LiveParser) -> None:
    """Register a component, by a weak reference."""
    _components[component] = None


def live_components() -> list[LiveParser]:
    """Return the components in the order of their creation."""
    return list(_components)


def components_of(nlp: Language) -> list[LiveParser]:
    """Return the parser components of a pipeline, in pipeline order."""
    return [component for _, component in _parsing(nlp)]


def parsing_names(nlp: Language) -> list[str]:
    """Return the names that parser components have in a pipeline: one renamed while disabled keeps its old `name`."""
    return [name for name, _ in _parsing(nlp)]


def _parsing(nlp: Language) -> list[tuple[str, Any]]:
    return [(name, pipe) for name, pipe in nlp.pipeline if any(pipe is one for one in _components)]


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
