"""What the trainable components have in common, above all those that parse: settings, annotation and scores."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cache, wraps
from inspect import Parameter, Signature, signature
from itertools import dropwhile, islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar, cast, get_type_hints
from weakref import ref

from spacy.language import Language
from spacy.pipeline import TrainablePipe
from spacy.tokens import Doc
from spacy.training import Example, validate_examples
from spacy.util import get_lang_class
from spacy.vocab import Vocab

from spacy_incparse.documents.doc_tree import forget_confidences, score_doc_tree
from spacy_incparse.documents.extensions import register_extensions, use_tree_chunks
from spacy_incparse.documents.gold import const_score, gold_with_sentences
from spacy_incparse.documents.live_parsers import ConfiguredParser, maker_id, register
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
from spacy_incparse.parsing.parse import Constraint, Input, Parse, Tags, TreeScore, flat_tree
from spacy_incparse.parsing.parser import Parser
from spacy_incparse.pipeline.model import named_errors
from spacy_incparse.tokens import penn_spelled, raw_word
from spacy_incparse.trees.codec import PENN_WORDS, encode
from spacy_incparse.trees.labels import UNKNOWN_TAG
from spacy_incparse.trees.tree import Tree
from spacy_incparse.workers import batches

register_extensions()

AnyPipe = TypeVar("AnyPipe", bound="TrainedPipe")
Factory = TypeVar("Factory", bound=Callable)


@dataclass
class TreeSettings:
    """The settings of all components that parse.

    tags: "own" uses the tags of the model's own tagger; "doc" uses token.tag_, and own tags only if it is empty.
    set_tags: whether to write the tags that the parser used to token.tag_.
    spans_key: if given, also write the phrases to doc.spans under this name, in pre-order.
    required_key: the name of a group in doc.spans whose spans must be phrases of the trees. The label of a span is the
        label of the phrase; an empty label stands for any.
    forbidden_key: the name of a group in doc.spans whose spans must not be phrases of the trees; labels as in
        required_key.
    nbest: if above 1, store this many analyses of each sentence, so that `doc._.parses` and `tree.confidence` work
        without the pipeline; parsing takes longer.
    ptb_words: whether the Docs have words in the spelling of the Penn Treebank, such as -LRB-; the trees have raw ones.
    noun_chunks: whether `doc.noun_chunks` returns the base noun phrases of the trees, without a dependency parser.
    search: settings of the search, such as beam_size and gamma; the others are taken from the model.
    scorer: as in every spaCy component.
    """

    tags: str = "own"
    set_tags: bool = False
    spans_key: str | None = None
    required_key: str | None = None
    forbidden_key: str | None = None
    nbest: int = 0
    ptb_words: bool = False
    noun_chunks: bool = False
    search: dict[str, Any] = field(default_factory=dict)
    scorer: Callable | None = const_score


SCORER = {"@scorers": "spacy_incparse.const_scorer.v1"}
TREE_DEFAULTS: dict[str, Any] = {
    one.name: {} if one.default is MISSING else one.default for one in fields(TreeSettings)
} | {"scorer": SCORER}
_BOUNDS = "token.is_sent_start"  # what each component assigns that sets sentence boundaries
TREE_ATTRIBUTES = ("doc._.trees", "span._.tree", "span._.is_constituent", "token._.tree_path")
TREE_SCORE_WEIGHTS: dict[str, float | None] = {"const_f": 1.0, "const_p": 0.0, "const_r": 0.0, "const_exact": 0.0}


def tree_factory(name: str, default_config: dict[str, Any], *assigns: str) -> Callable[[Factory], Factory]:
    """Register a factory of components that store trees and know their pipeline.

    spaCy checks that the `**settings` that the factory takes are fields of `TreeSettings` in its default config; those
    in `CHECKS`, and `search`, check their values themselves.
    """

    def registered(make: Factory) -> Factory:
        checked = {"search", *CHECKS}
        own = [
            one.replace(annotation=Any) if one.name in checked else one
            for one in signature(make).parameters.values()
            if one.kind != Parameter.VAR_KEYWORD
        ]
        types, known = get_type_hints(TreeSettings), {one.name for one in own}
        shared = [one for one in types if one in default_config and one not in known]
        types |= dict.fromkeys(checked, Any)
        more = [Parameter(one, Parameter.KEYWORD_ONLY, annotation=types[one]) for one in shared]

        @wraps(make)
        def make_in(nlp: Language, **settings: Any) -> Any:
            component = make(nlp=nlp, **settings)
            component.pipeline = ref(nlp)
            return component

        make_in.__signature__ = Signature([*own, *more])  # type: ignore[attr-defined]
        return Language.factory(
            name,
            assigns=[*TREE_ATTRIBUTES, *assigns],
            requires=[_BOUNDS],
            default_config=default_config,
            default_score_weights=TREE_SCORE_WEIGHTS,
        )(cast("Factory", make_in))

    return registered


class TrainedPipe(TrainablePipe):
    """A component whose weights are no network's: they have neither gradients nor averages of thinc's."""

    is_resizable = False

    def __init__(self, vocab: Vocab, model: Any, name: str, scorer: Callable | None):
        self.vocab, self.model, self.name, self.cfg, self.scorer = vocab, model, name, dict[str, Any](), scorer
        self._warned: set[str] = set()  # kinds of warnings that were shown

    def add_label(self, label: str) -> int:
        """Return 0: labels come from what the component is trained on in `initialize`, and cannot be added."""
        return 0

    def update(
        self, examples: Iterable[Example], *, losses: dict[str, float] | None = None, **kwargs: Any
    ) -> dict[str, float]:
        """Check the examples and return `losses`, with 0 for this component: all training happens in `initialize`."""
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        validate_examples(list(examples), f"{type(self).__name__}.update")
        return losses

    def finish_update(self, sgd: Any) -> None:
        """Do nothing: there are no gradients."""

    def use_params(self, params: Any) -> Iterator[None]:
        """Do nothing: `predict` uses averaged weights, independently of thinc's averages."""
        yield

    def from_disk(self: AnyPipe, path: str | Path, *, exclude: Iterable[str] = ()) -> AnyPipe:
        """Load the component from a folder.

        Raises ModelError without changing anything if weights cannot be read, and ConfigError if `search` does not fit
        them.
        """
        with named_errors(path):
            super().from_disk(path, exclude=exclude)
            self._check_loaded(exclude)
        return self

    def from_bytes(self: AnyPipe, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> AnyPipe:
        """Load the component from bytes; errors are as in `from_disk`."""
        super().from_bytes(bytes_data, exclude=exclude)
        self._check_loaded(exclude)
        return self

    def _check_loaded(self, exclude: Iterable[str]) -> None:
        """Raise ModelError or ConfigError if what was loaded, all but `exclude`, does not fit together."""

    def _warn_once(self, kind: str, text: str) -> None:
        if kind not in self._warned:
            self._warned.add(kind)
            warnings.warn(f"{self.name}: {text} (this warning is shown once)", stacklevel=3)

    def __reduce__(self):
        return _unpickled, (type(self), self.vocab, self.model, self.name, self.scorer, self._state())

    def _state(self) -> dict[str, Any]:
        """Return what a pickled component keeps."""
        return self.__dict__ | {"cfg": self.cfg}


def _unpickled(
    cls: Callable[..., AnyPipe], vocab: Vocab, model: Any, name: str, scorer: Callable | None, state: dict[str, Any]
) -> AnyPipe:
    component = cls(vocab, model, name, scorer=scorer)
    component.cfg.update(state.pop("cfg"))  # spaCy keeps it outside of __dict__
    component.__dict__.update(state)
    return component


class SearchingPipe(TrainedPipe):
    """A component that finds analyses of sentences, for Docs to ask for: a parser, or the reranker of one."""

    is_reranker = False
    pipeline: Callable[[], Language | None] = staticmethod(lambda: None)  # that it was made in, as long as it exists
    _decoder: Any = None  # the last `decoder`
    max_calibrated: int | None = None  # sentences that a temperature is fitted on; None: those of `fit_temperature`

    def __init__(self, vocab: Vocab, model: Any, name: str, scorer: Callable | None, search: Mapping[str, Any] | None):
        super().__init__(vocab, model, name, scorer)
        self.search = search or {}
        register(self)

    @property
    def search(self) -> Mapping[str, Any]:
        """The search settings that differ from the model's; a new dict can be assigned at any time."""
        return MappingProxyType(self._search)  # a change to the dict itself would not be checked

    @search.setter
    def search(self, search: Mapping[str, Any]) -> None:
        if not isinstance(search, Mapping):
            raise ConfigError(f"{self.name}: search is {search!r:.60}: it must be a dict of settings and their values")
        self.check_search(dict(search))  # reports errors here and not at the first text
        self._search, self._decoder = dict(search), None

    @property
    @abstractmethod
    def decoder(self) -> ConfiguredParser:
        """The parser with the component's search. Raises IncparseError if there are no weights."""

    @abstractmethod
    def check_search(self, search: dict[str, Any]) -> None:
        """Raise ConfigError if a search setting is unknown or has a value that it cannot have."""

    def calibrate(self, examples: Iterable[Example]) -> float | None:
        """Fit the temperature, which turns scores into probabilities, on examples not used in training.

        The sentences are those of the gold trees, with the tags that the component would use. Return the temperature,
        which is saved with the weights; or None, without changing anything and with a warning, if no example has a gold
        tree. Raises IncparseError for anything but Examples.
        """
        from spacy_incparse.training.temperature import MAX_SENTENCES

        gold = list(islice(self.gold_sentences(_checked_examples(examples)), self.max_calibrated or MAX_SENTENCES))
        if not gold:
            warnings.warn(f"{self.name}: no example has a gold tree, so the temperature stays as it is", stacklevel=2)
        temperature = self._fitted_temperature(gold) if gold else None
        if temperature is not None:
            self._set_temperature(temperature)
            forget_confidences()
        return temperature

    @abstractmethod
    def gold_sentences(self, examples: Iterable[Example]) -> Iterable[tuple[Tree, Sentence]]:
        """Yield the gold trees of parsed examples with their sentences, which have no constraints from the examples."""

    @abstractmethod
    def _fitted_temperature(self, gold: Sequence[tuple[Tree, Sentence]]) -> float | None:
        """Return the temperature that fits gold trees of sentences."""

    @abstractmethod
    def _set_temperature(self, temperature: float) -> None:
        """Store a temperature with the weights."""

    def _state(self) -> dict[str, Any]:
        return {key: value for key, value in super()._state().items() if key != "pipeline"} | {"_decoder": None}


def _checked_examples(examples: Iterable[Example]) -> Iterator[Example]:
    for one in examples if isinstance(examples, Iterable) else [examples]:
        if not isinstance(one, Example):
            what = f"{one!r:.60} is no Example"
            raise IncparseError(f"{what}: pass Examples with gold trees, as spacy_incparse.examples() returns them")
        yield one


_FLAG = (lambda value: isinstance(value, bool), "true or false")
_GROUP = (lambda value: value is None or isinstance(value, str), "a name, or None")
CHECKS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "tags": (lambda value: value in ("own", "doc"), "'own' or 'doc'"),
    "nbest": (lambda value: type(value) is int and value >= 0, "a whole number of 0 or more"),
    "set_tags": _FLAG,
    "ptb_words": _FLAG,
    "noun_chunks": _FLAG,
    "measures": _FLAG,
    "spans_key": _GROUP,
    "required_key": _GROUP,
    "forbidden_key": _GROUP,
}
"""Settings that can be changed at any time, whether a value is right, and what it must be."""


class TreePipe(SearchingPipe):
    """A component that parses each sentence of a Doc."""

    is_member = True  # whether an `incparse_combiner` may combine it with others
    measures = False  # whether it stores measures of each word
    tags: str
    set_tags: bool
    spans_key: str | None
    required_key: str | None
    forbidden_key: str | None
    nbest: int
    ptb_words: bool
    noun_chunks: bool

    def __init__(self, vocab: Vocab, model: Any, name: str, **settings: Any):
        given = vars(TreeSettings(**settings))
        keys = [key for key in (given["spans_key"], given["required_key"], given["forbidden_key"]) if key is not None]
        if len(set(keys)) < len(keys):
            raise ConfigError(f"{name}: spans_key, required_key and forbidden_key must name different groups: {keys}")
        super().__init__(vocab, model, name, given.pop("scorer"), given.pop("search"))
        for setting, value in given.items():
            setattr(self, setting, value)
        if self.noun_chunks:
            use_tree_chunks(vocab)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in CHECKS:
            is_right, what = CHECKS[name]
            if not is_right(value):
                raise ConfigError(f"{self.name}: {name} = {value!r} must be {what}")
            if name == "nbest":
                self._decoder = None
        super().__setattr__(name, value)

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

    def sentences_of(self, doc: Doc) -> list[Sentence]:
        """Return the sentences of a Doc with the constraints from its span groups."""
        return self.sentences_by_doc([doc])[0]

    def sentences_by_doc(self, docs: Sequence[Doc]) -> list[list[Sentence]]:
        """Return the sentences of each Doc with the constraints from its span groups."""
        by_doc = []
        for doc in docs:
            sentences = split_sentences(doc)
            if self.ptb_words:
                raw = [list(map(raw_word, sentence.words, sentence.tags)) for sentence in sentences]
                sentences = [replace(one, words=words, is_penn=True) for one, words in zip(sentences, raw, strict=True)]
            elif "penn" not in self._warned:
                odd = penn_spelled(word for sentence in sentences for word in sentence.words)
                if odd is not None:
                    what = f"words such as {odd!r} are in the spelling of the Penn Treebank, and parsed as unknown ones"
                    cure = "spacy_incparse.tokens.penn_to_raw converts them, and so does ptb_words = true of 'incparse'"
                    self._warn_once("penn", f"{what}: {cure} (in commands --ptb)")
            if self.required_key is not None or self.forbidden_key is not None:
                sentences, outside = constrained(doc, sentences, self.required_key, self.forbidden_key)
                if outside:
                    what = "spans that cross sentence boundaries, or begin or end inside a token, are ignored as"
                    self._warn_once("outside", f"{what} constraints, such as {outside[0]!r}")
            by_doc.append(sentences)
        return by_doc

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
        for doc in docs:
            if not has_sentence_bounds(doc):
                nlp = self.pipeline()
                behind = dropwhile(lambda one: one[1] is not self, nlp.pipeline if nlp else ())
                late = [name for name, _ in behind if nlp and _BOUNDS in nlp.get_pipe_meta(name).assigns]
                what = f"{late[0]!r} sets them, but comes after" if late else "add a sentencizer before"
                cure = f"nlp.add_pipe({late[0] if late else 'sentencizer'!r}, before={self.name!r})"
                what = f"a Doc without sentence boundaries is parsed as one sentence: {what} {self.name!r}: {cure}"
                self._warn_once("bounds", what)
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

    def _fitted_temperature(self, gold: Sequence[tuple[Tree, Sentence]]) -> float | None:
        from spacy_incparse.training.temperature import fit_temperature

        given = [self.input_of(sentence) for _, sentence in gold]
        return fit_temperature(self.decoder.parser, [tree for tree, _ in gold], given)

    def gold_sentences(self, examples: Iterable[Example]) -> Iterator[tuple[Tree, Sentence]]:
        """Yield the gold trees of parsed examples with their sentences, which have no constraints from the examples."""
        return gold_with_sentences(examples)

    def annotated(self, sentences: Sequence[Sentence], decoder: ConfiguredParser) -> Iterable[ParsedSentence]:
        """Return sentences of any Docs with their trees; one that fails has a flat tree, without harm to others."""
        self._check_tags(sentences, decoder.parser)
        self._check_words(sentences, decoder.parser)
        parsed: list[ParsedSentence] = []
        waiting = deque(batches(sentences, BATCH_WORDS, lambda one: len(one.words)))
        while waiting:
            batch = waiting.popleft()
            try:
                given = decoder.inputs_of(batch, use_given=self.tags == "doc")
                parses = decoder.parser.parse_batch(given)
                found = zip(batch, parses, given, strict=True)
                parsed += [encode_parse(one, parse, decoder.fields(parse, own)) for one, parse, own in found]
            except Exception as error:
                if len(batch) > 1:
                    waiting.extendleft([one] for one in reversed(batch))
                    continue
                (one,) = batch
                what = f"a sentence got a flat tree, because parsing failed ({error!r})"
                self._warn_once("error", f"{what}: {' '.join(one.words[:8])!r}")
                tree = flat_tree(one.words, [tag or UNKNOWN_TAG for tag in one.tags])
                parse = Parse(tree, cast("Any", None), "flat")
                parsed.append(encode_parse(one, parse, decoder.fields(parse)))
        for item in parsed:
            if item.unmet:
                what = f"no tree was found with {shown(item.unmet, item.sentence.words)}"
                start = " ".join(item.sentence.words[:8])
                warnings.warn(f"{self.name}: {what}: dropped in {start!r}", stacklevel=3)
        return map(self._measured, parsed) if self.measures else parsed

    def _check_tags(self, sentences: Sequence[Sentence], parser: Parser) -> None:
        """Warn, once, if the parser does not know tags that sentences were given."""

    def _check_words(self, sentences: Sequence[Sentence], parser: Parser) -> None:
        """Warn, once, if sentences seem to be in another language than the parser learned.

        A parser that knows many words knows few of those; any other is asked for the stop words of its language.
        """
        known = parser.known_words
        if "words" in self._warned:
            return
        words = [word for sentence in sentences[:CHECKED_SENTENCES] for word in sentence.words if word.isalpha()]
        if len(known) >= MANY_WORDS:
            unknown = [word for word in words if word not in known and word.lower() not in known]
            is_foreign = len(words) >= ENOUGH_WORDS and 2 * len(unknown) > len(words)
            what = f"most words are unknown to the parser, such as {', '.join(dict.fromkeys(unknown[:3]))}"
        else:
            common = stop_words(self.vocab.lang)
            words = [word for word in words if word.islower()]  # names and titles have no stop words
            n_common = sum(word in common for word in words)
            is_foreign = bool(common) and len(set(words)) >= MANY_STOPS and n_common < LEAST_STOPS * len(words)
            what = f"only {n_common} of {len(words)} words are among the most common ones of the language"
        if is_foreign:
            self._warn_once("words", f"{what}: is the text in the language that it learned?")

    def _measured(self, item: ParsedSentence) -> ParsedSentence:
        """Return a sentence with measures of its words, if the component stores them."""
        return item


MANY_WORDS, ENOUGH_WORDS = 5000, 10  # that the parser knows, and in a text, to judge by
CHECKED_SENTENCES = 100  # of a batch
# In prose, two fifths of the words in lower case are stop words, in a headline a quarter, in another language a tenth.
MANY_STOPS, LEAST_STOPS = 30, 0.15
BATCH_WORDS = 10_000  # large enough to make the overhead per batch small, small enough to limit memory


@cache
def stop_words(lang: str) -> frozenset[str]:
    """Return the most common words of a language that spaCy knows; none for others."""
    try:
        return frozenset(get_lang_class(lang).Defaults.stop_words)
    except ImportError:
        return frozenset()


@dataclass(frozen=True, slots=True)
class ParsedSentence:
    """A sentence and the string that stores its tree."""

    sentence: Sentence
    tags: Sequence[str]
    stored: str
    measures: str | None = None  # the string that stores the measures of the words
    unmet: Sequence[Constraint] = ()  # constraints that were dropped


def encode_parse(sentence: Sentence, parse: Parse, fields: Sequence[str]) -> ParsedSentence:
    """Return a sentence with the string that stores a parse and further fields."""
    stored = encode(
        parse.tree,
        sentence.char_starts,
        sentence.char_ends,
        origin=sentence.start_char,
        score=parse.score,
        source=parse.source,
        more=[*fields, PENN_WORDS] if sentence.is_penn else fields,
    )
    return ParsedSentence(sentence, parse.tree.tags, stored, None, parse.unmet)
