"""What the components that parse have in common: settings, sentences with constraints, annotation and scores."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_incparse.documents.doc_tree import forget_confidences, score_doc_tree
from spacy_incparse.documents.extensions import register_extensions
from spacy_incparse.documents.live_parsers import ConfiguredParser, maker_id, register
from spacy_incparse.documents.noun_chunks import use_tree_chunks
from spacy_incparse.documents.sentences import (
    Sentence,
    constrained,
    has_sentence_bounds,
    shown,
    split_sentences,
    write_tags,
)
from spacy_incparse.documents.storage import clear_trees, mirror_trees, write_tree
from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.parsing.catalogue import check_search
from spacy_incparse.parsing.parse import Constraint, Input, Parse, Tags, flat_tree
from spacy_incparse.pipeline.parser_training import gold_with_sentences
from spacy_incparse.pipeline.scorers import const_score
from spacy_incparse.pipeline.trained_pipe import TrainedPipe, unpickled
from spacy_incparse.trees.codec import encode
from spacy_incparse.trees.labels import UNKNOWN_TAG
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from spacy_incparse.parsing.parse import TreeScore


register_extensions()

TREE_DEFAULTS: dict[str, Any] = {
    "tags": "own",
    "set_tags": False,
    "spans_key": None,
    "required_key": None,
    "forbidden_key": None,
    "nbest": 0,
    "noun_chunks": False,
    "search": {},
    "scorer": {"@scorers": "spacy_incparse.const_scorer.v1"},
}
"""The settings of all components that parse, with their defaults; see `make_incparse`."""
TREE_ATTRIBUTES = ("doc._.trees", "span._.tree", "span._.is_constituent", "token._.tree_path")
"""What all components that store trees assign."""
TREE_SCORE_WEIGHTS: dict[str, float | None] = {"const_f": 1.0, "const_p": 0.0, "const_r": 0.0, "const_exact": 0.0}
"""How their scores count when `spacy train` chooses the best pipeline."""


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


class TreePipe(TrainedPipe):
    """A component that parses each sentence of a Doc."""

    is_reranker = False
    is_member = True  # whether an `incparse_combiner` may combine it with others
    _decoder: ConfiguredParser | None
    measures = False  # whether it stores measures of each word
    spans_key, required_key, forbidden_key = GroupName(), GroupName(), GroupName()  # they can be changed at any time
    max_calibrated: int | None = None  # sentences that a temperature is fitted on; None: those of `fit_temperature`

    def __init__(
        self,
        vocab: Vocab,
        model: Any,
        name: str,
        *,
        tags: str = "own",
        set_tags: bool = False,
        spans_key: str | None = None,
        required_key: str | None = None,
        forbidden_key: str | None = None,
        nbest: int = 0,
        noun_chunks: bool = False,
        search: dict[str, Any] | None = None,
        scorer: Callable | None = const_score,
    ):
        keys = [key for key in (spans_key, required_key, forbidden_key) if key is not None]
        if len(set(keys)) < len(keys):
            raise ConfigError(f"{name}: spans_key, required_key and forbidden_key must name different groups: {keys}")
        self.vocab, self.model, self.name, self.cfg, self.scorer = vocab, model, name, dict[str, Any](), scorer
        self.tags, self.set_tags, self.spans_key = tags, set_tags, spans_key
        self.required_key, self.forbidden_key = required_key, forbidden_key
        self.noun_chunks = noun_chunks
        if noun_chunks:
            use_tree_chunks(vocab)
        self._decoder = None
        self.search = search or {}
        self.nbest = nbest
        self._warned: set[str] = set()
        register(self)

    @property
    @abstractmethod
    def decoder(self) -> ConfiguredParser:
        """The parser with the component's search. Raises IncparseError if there are no weights."""

    @property
    @abstractmethod
    def weights_id(self) -> str:
        """An id of the weights; "" if there are none, or if they have not been loaded or are being trained."""

    @property
    def maker(self) -> str:
        """The id that is stored with the trees: of the component's name and weights; "" without the latter."""
        return maker_id(self.name, self.weights_id)

    def check_search(self, search: dict[str, Any]) -> None:
        """Raise ConfigError if a search setting is unknown or has a value that it cannot have."""
        check_search(search)

    @property
    def search(self) -> Mapping[str, Any]:
        """The search settings that differ from the model's; a new dict can be assigned at any time."""
        return MappingProxyType(self._search)  # a change to the dict itself would not be checked

    @search.setter
    def search(self, search: Mapping[str, Any]) -> None:
        if not isinstance(search, Mapping):
            raise ConfigError(f"{self.name}: search is {search!r:.60}: it must be a dict of settings")
        self.check_search(dict(search))  # reports errors here and not at the first text
        self._search, self._decoder = dict(search), None

    @property
    def tags(self) -> str:
        """The source of the tags, "own" or "doc"; can be changed at any time."""
        return self._tags

    @tags.setter
    def tags(self, tags: str) -> None:
        if tags not in ("own", "doc"):
            raise ConfigError(f"{self.name}: tags = {tags!r} must be 'own' or 'doc'")
        self._tags = tags

    @property
    def nbest(self) -> int:
        """The number of analyses to store for each sentence; can be changed at any time."""
        return self._nbest

    @nbest.setter
    def nbest(self, nbest: int) -> None:
        if isinstance(nbest, bool) or not isinstance(nbest, int) or nbest < 0:
            raise ConfigError(f"{self.name}: nbest = {nbest!r} must be a whole number of 0 or more")
        self._nbest, self._decoder = nbest, None

    def sentences_of(self, doc: Doc) -> list[Sentence]:
        """Return the sentences of a Doc with the constraints from its span groups."""
        return self.sentences_by_doc([doc])[0]

    def sentences_by_doc(self, docs: Sequence[Doc]) -> list[list[Sentence]]:
        """Return the sentences of each Doc with the constraints from its span groups."""
        return [self._constrained(doc) for doc in docs]

    def with_constraints(self, doc: Doc, sentence: Sentence) -> Sentence:
        """Return a sentence with the current constraints on its Doc."""
        if self.required_key is None and self.forbidden_key is None:
            return sentence
        return constrained(doc, [sentence], self.required_key, self.forbidden_key)[0][0]

    def input_of(self, sentence: Sentence) -> Input:
        """Return what the parser takes of a sentence, with the tags to parse it with."""
        return self.inputs_of([sentence])[0]

    def inputs_of(self, sentences: Sequence[Sentence]) -> list[Input]:
        """Return what the parser takes of sentences, which takes less time than to ask for that of each."""
        return self.decoder.inputs_of(sentences, use_given=self.tags == "doc")

    def nbest_parses(self, sentence: Sentence, k: int | None) -> list[Parse]:
        """Return up to `k` analyses of a sentence, the component's own first; a flat tree if parsing fails."""
        try:
            return self.decoder.nbest_search.analyses(*self.input_of(sentence), n=k)
        except Exception:
            flat: Tags = [tag or UNKNOWN_TAG for tag in sentence.tags]
            return [Parse(flat_tree(sentence.words, flat), 0.0, "flat")]

    def predict(self, docs: Iterable[Doc]) -> list[list[ParsedSentence]]:
        """Return the sentences of each Doc with their trees, without modifying the Docs."""
        docs, decoder = list(docs), self.decoder
        if not all(has_sentence_bounds(doc) for doc in docs):
            self._warn_once("bounds", "a Doc without sentence boundaries is parsed as one sentence: add a sentencizer")
        by_doc = self.sentences_by_doc(docs)
        parsed = iter(self.annotated([sentence for group in by_doc for sentence in group], decoder))
        return [list(islice(parsed, len(group))) for group in by_doc]

    def set_annotations(self, docs: Iterable[Doc], scores: list[list[ParsedSentence]]) -> None:
        """Store the trees that `predict` returned on the Docs, replacing existing trees."""
        for doc, parsed in zip(docs, scores, strict=True):
            clear_trees(doc)
            if self.noun_chunks:
                use_tree_chunks(doc)  # created with another vocab, or before the component
            for item in parsed:
                write_tree(doc, item.sentence.start_char, item.sentence.end_char, item.stored, item.measures)
            if self.set_tags and parsed:
                write_tags(doc, [(item.sentence, item.tags) for item in parsed])
            if self.spans_key is not None:
                mirror_trees(doc, self.spans_key, [(item.sentence, item.stored) for item in parsed])

    def rehearse(self, examples: Iterable[Example], **kwargs: Any) -> None:
        """Warn that rehearsal, which is for neural components, does nothing here."""
        self._warn_once(
            "rehearse", "rehearse() does nothing here: to prevent forgetting, mix old trees with the new ones"
        )

    def score(self, examples: Any, tree: Tree | str | None = None, **kwargs: Any) -> Any:
        """Return the scores of Examples, computed by the component's scorer as in every component.

        With a Doc and a tree, return the parser's score of the tree (see `score_tree`). Raises IncparseError for one
        without the other.
        """
        if isinstance(examples, Doc) or tree is not None:
            return self.score_tree(examples, tree, **kwargs)  # type: ignore[arg-type]  # it reports what is wrong
        return super().score(examples, **kwargs)

    def score_tree(self, doc: Doc, tree: Tree | str, *, gold_tags: bool = False) -> TreeScore:
        """Return the score and derivation of a tree (or its brackets) of one of the Doc's sentences.

        The tags are those that the component would parse with, or the tree's own with `gold_tags`. Raises IncparseError
        if no sentence has the tree's words.
        """
        return score_doc_tree(self, doc, tree, gold_tags=gold_tags)

    def calibrate(self, examples: Iterable[Example]) -> float | None:
        """Fit the temperature, which turns scores into probabilities, on examples not used in training.

        The sentences are those of the gold trees, with the tags that the component would use. Return the temperature,
        which is saved with the weights; or None, without changing anything and with a warning, if no example has a gold
        tree. Raises IncparseError for anything but Examples.
        """
        from spacy_incparse.training.temperature import MAX_SENTENCES

        gold = list(islice(self.gold_sentences(checked_examples(examples)), self.max_calibrated or MAX_SENTENCES))
        if not gold:
            warnings.warn(f"{self.name}: no example has a gold tree, so the temperature stays as it is", stacklevel=2)
        temperature = self._fitted_temperature(gold) if gold else None
        if temperature is not None:
            self._set_temperature(temperature)
            forget_confidences()
        return temperature

    def __reduce__(self):
        return unpickled, (type(self), self.vocab, self.model, self.name, self.scorer, self._state())

    def _state(self) -> dict[str, Any]:
        """Return what a pickled component keeps."""
        return self.__dict__ | {"cfg": self.cfg, "_decoder": None}

    @abstractmethod
    def _set_temperature(self, temperature: float) -> None:
        """Store a temperature with the weights."""

    def _fitted_temperature(self, gold: Sequence[tuple[Tree, Sentence]]) -> float | None:
        from spacy_incparse.training.temperature import fit_temperature

        given = [self.input_of(sentence) for _, sentence in gold]
        return fit_temperature(self.decoder.parser, [tree for tree, _ in gold], given)

    def gold_sentences(self, examples: Iterable[Example]) -> Iterator[tuple[Tree, Sentence]]:
        """Yield the gold trees of parsed examples with their sentences, which have no constraints from the examples."""
        return gold_with_sentences(examples)

    def _constrained(self, doc: Doc) -> list[Sentence]:
        sentences = split_sentences(doc)
        if self.required_key is None and self.forbidden_key is None:
            return sentences
        sentences, outside = constrained(doc, sentences, self.required_key, self.forbidden_key)
        if outside:
            what = "spans that cross sentence boundaries, or begin or end inside a token, are ignored as constraints"
            self._warn_once("outside", f"{what}, such as {outside[0]!r}")
        return sentences

    def annotated(self, sentences: Sequence[Sentence], decoder: ConfiguredParser) -> Iterable[ParsedSentence]:
        """Return sentences of any Docs with their trees; one that fails has a flat tree, without harm to others."""
        parsed: list[ParsedSentence] = []
        batches = deque(_batches(sentences))
        while batches:
            batch = batches.popleft()
            try:
                given = decoder.inputs_of(batch, use_given=self.tags == "doc")
                parses = decoder.parser.parse_batch(given)
                found = zip(batch, parses, given, strict=True)
                parsed += [encode_parse(one, parse, decoder.fields(parse, own)) for one, parse, own in found]
            except Exception as error:
                if len(batch) > 1:
                    batches.extendleft([one] for one in reversed(batch))
                    continue
                (one,) = batch
                what = f"a sentence got a flat tree, because parsing failed ({error!r})"
                self._warn_once("error", f"{what}: {' '.join(one.words[:8])!r}")
                flat = [tag or UNKNOWN_TAG for tag in one.tags]
                tree = flat_tree(one.words, flat)
                parsed.append(
                    ParsedSentence(
                        one, flat, _encode(tree, one, None, "flat", decoder.fields(Parse(tree, 0.0, "flat")))
                    )
                )
        for item in parsed:
            if item.unmet:
                what = f"no tree was found with {shown(item.unmet, item.sentence.words)}"
                start = " ".join(item.sentence.words[:8])
                warnings.warn(f"{self.name}: {what}: dropped in {start!r}", stacklevel=3)
        return parsed


def checked_examples(examples: Iterable[Example]) -> Iterator[Example]:
    """Yield Examples. Raises IncparseError for anything else."""
    for one in examples if isinstance(examples, Iterable) else [examples]:
        if not isinstance(one, Example):
            what = f"{one!r:.60} is no Example"
            raise IncparseError(f"{what}: pass Examples with gold trees, as spacy_incparse.examples() returns them")
        yield one


BATCH_WORDS = 10_000  # large enough to make the overhead per batch small, small enough to limit memory


@dataclass(frozen=True, slots=True)
class ParsedSentence:
    """A sentence and the string that stores its tree."""

    sentence: Sentence
    tags: Sequence[str]
    stored: str
    measures: str | None = None  # the string that stores the measures of the words
    unmet: Sequence[Constraint] = ()  # constraints that were dropped


def _batches(sentences: Iterable[Sentence]) -> Iterator[list[Sentence]]:
    batch: list[Sentence] = []
    n_words = 0
    for sentence in sentences:
        batch.append(sentence)
        n_words += len(sentence.words)
        if n_words >= BATCH_WORDS:
            yield batch
            batch, n_words = [], 0
    if batch:
        yield batch


def encode_parse(sentence: Sentence, parse: Parse, fields: Sequence[str]) -> ParsedSentence:
    """Return a sentence with the string that stores a parse and further fields."""
    stored = _encode(parse.tree, sentence, parse.score, parse.source, fields)
    return ParsedSentence(sentence, parse.tree.tags, stored, None, parse.unmet)


def _encode(tree: Tree, s: Sentence, score: float | None, source: str, more: Sequence[str]) -> str:
    return encode(tree, s.char_starts, s.char_ends, origin=s.start_char, score=score, source=source, more=more)
