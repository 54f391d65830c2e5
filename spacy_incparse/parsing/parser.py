"""The interfaces of parsers, of their sessions, and of kinds of parsers.

Components, commands, evaluation and benchmarks use parsers only through these. A new kind of parser implements `Parser`
and `Learner`, describes itself as a `ParserKind`, and is registered in the catalogue (`parsing/catalogue.py`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import starmap, takewhile
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, NoReturn, Protocol

from spacy_incparse.errors import ConfigError, IncparseError, ModelError, damaged
from spacy_incparse.parsing.local_trees import LocalTree
from spacy_incparse.parsing.parse import (
    NO_WORDS,
    Constraints,
    Input,
    Parse,
    Posterior,
    Tag,
    Tags,
    best_tag,
    check_n_analyses,
    check_word,
)
from spacy_incparse.settings import Settings
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from spacy_incparse.linear.words import Clusters
    from spacy_incparse.parsing.parse import TreeScore


class TagRequest(NamedTuple):
    """The tags that a parser needs for each word: up to `n_tags`, all within `margin` of the best."""

    n_tags: int = 1
    margin: float = 0.0


class TagSource(Protocol):
    """The part of a tagger's interface that parsers and sessions use."""

    @property
    def look_ahead(self) -> int:
        """The number of words after a word that the tagger uses."""

    def candidate_tags(self, sentences: Sequence[Sequence[str]], n_tags: int, margin: float) -> Sequence[Tags]:
        """Return the tags of each sentence."""


class Session(ABC):
    """A sentence parsed word by word. Sessions are immutable: `push` returns a new one that refers to the old one.

    Returning to an earlier session, or pushing different words after the same prefix, therefore costs only a reference.
    previous: the session with one word less; None before the first word.
    """

    def __init__(self, previous: Session | None = None, word: tuple[str, Tag] = ("", None)):
        self.previous, self._word = previous, word
        self._n_words: int = 0 if previous is None else previous._n_words + 1

    def __len__(self) -> int:
        return self._n_words

    @property
    def words(self) -> tuple[str, ...]:
        """The words pushed so far."""
        return tuple(session._word[0] for session in self._path())

    @property
    @abstractmethod
    def answered(self) -> int:
        """The number of words that are analyzed before the sentence is complete."""

    @abstractmethod
    def push(self, word: str, tag: Tag = None) -> Session:
        """Return a session with one more word; this session does not change.

        Raises IncparseError if `word` is not a word, if the parser does not know the tag, or if a tag is needed.
        """

    def best(self, *, complete: bool = False) -> Parse:
        """Return the best analysis of the analyzed words: a partial tree in which open constituents are closed.

        With `complete`, the sentence ends with the last word and all words are analyzed. Raises IncparseError before
        the first word, and as long as no word can be analyzed.
        """
        return self.nbest(1, complete=complete)[0]

    @abstractmethod
    def nbest(self, k: int, *, complete: bool = False) -> list[Parse]:
        """Return up to `k` analyses with different trees, best first."""

    def _path(self) -> list[Any]:
        """Return the sessions from the first word to this one."""
        found, here = [], self
        while here.previous is not None:
            found.append(here)
            here = here.previous
        return found[::-1]


class LookAheadSession(Session):
    """The words and tags pushed so far; each analysis is a search over these. Created by `Parser.start`.

    parser: one with a `look_ahead` (the words after the current one that its features use; None: up to the end of the
    sentence) and a method `prefix` that analyzes the first words of a sentence.
    """

    def __init__(
        self,
        parser: Any,
        tagger: TagSource | None = None,
        previous: LookAheadSession | None = None,
        word: tuple[str, Tag] = ("", None),
    ):
        super().__init__(previous, word)
        self._parser, self._tagger = parser, tagger
        self._tagger_reach = 0 if tagger is None else tagger.look_ahead

    @property
    def look_ahead(self) -> int | None:
        """The number of words needed after a word before it can be analyzed; None: the whole sentence.

        It covers the words that features use and, for words without tags, those that the tagger uses.
        """
        reach = self._parser.look_ahead
        return None if reach is None else reach + self._tagger_reach

    @property
    def answered(self) -> int:
        """The number of words that are analyzed before the sentence is complete."""
        reach = self._parser.look_ahead
        return 0 if reach is None else max(0, self._n_tagged - reach)

    def push(self, word: str, tag: Tag = None) -> LookAheadSession:
        """Return a session with one more word; this session does not change.

        Raises IncparseError if `word` is not a word, if the parser does not know the tag, or if there is neither a tag
        nor a tagger.
        """
        check_word(word, tag, self._parser.tags)
        if not tag and self._tagger is None:
            raise IncparseError(f"{word!r} has no tag, and this parser has no tagger: pass a tag to push()")
        return LookAheadSession(self._parser, self._tagger, self, (word, tag or None))

    def nbest(self, k: int, *, complete: bool = False) -> list[Parse]:
        """Return up to k analyses with different trees, best first."""
        check_n_analyses(k)
        if not self._n_words:
            raise IncparseError(NO_WORDS)
        if complete:
            return self._parser.nbest(self.words, self._tags(self._n_words, complete=True), k)
        if self.look_ahead is None:
            raise IncparseError("this parser's features use the end of the sentence: pass complete=True")
        if not self.answered:
            raise IncparseError(
                f"no word can be analyzed yet: this parser looks {self.look_ahead} words ahead, and the sentence has "
                f"{self._n_words} so far; push more words, or pass complete=True"
            )
        return self._parser.prefix(self.words[: self._n_tagged], self._tags(self._n_tagged), self.answered, k)

    def measures(self) -> NoReturn:
        """Raise IncparseError: the scores of this parser are not probabilities."""
        raise IncparseError(
            "this parser has no word probabilities and therefore no measures: use a generative parser, such "
            "as 'en_generative'"
        )

    @cached_property
    def _n_tagged(self) -> int:
        """Return how many of the first words have a final tag, which no later word can change."""
        near_the_end = self._path()[max(0, self._n_words - self._tagger_reach) :]
        given = list(takewhile(lambda session: session._word[1], near_the_end))
        return self._n_words - len(near_the_end) + len(given)

    def _tags(self, n_words: int, *, complete: bool = False) -> Tags:
        """Return the tags of the first words; missing tags are the tagger's, from when its look-ahead was first met."""
        path, reach = self._path(), self._tagger_reach
        return [
            session._word[1] or (self if complete else path[n + reach])._own_tags[n]
            for n, session in enumerate(path[:n_words])
        ]

    @cached_property
    def _own_tags(self) -> Tags:
        """Return the tagger's tags for all words, as if the sentence ended here."""
        assert self._tagger is not None
        request = self._parser.tag_request or TagRequest()
        return self._tagger.candidate_tags([self.words], *request)[0]


N_ANALYSES = 100  # of one search; probabilities are relative to these
N_SPARE = 10  # trees asked for beyond those returned, since some score higher than the parser's own


class Parser(ABC):
    """A trained parser; by default, one that needs one tag per word and returns one tree per sentence.

    The caller passes in the tags; the parser never calls a tagger itself. Subclasses define kind, tags and labels,
    implement `parse` and `to_bytes`, and override whatever they do better.
    """

    kind: str
    """The name of the parser's kind in the catalogue."""
    temperature: float | None = None
    """The temperature that turns scores into probabilities; None if it was never fitted."""
    score_tolerance: float = 0.0
    """By how much the scores of one tree may differ between two runs."""
    has_exact_probabilities: bool = False
    """Whether `posterior` knows what n-best lists cannot tell; it is None for sentences parsed piece by piece."""

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """The tags that the parser knows, most frequent first."""
        raise NotImplementedError

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The phrase labels that the parser can assign, sorted."""
        raise NotImplementedError

    @abstractmethod
    def parse(self, words: Sequence[str], tags: Tags, constraints: Constraints = ()) -> Parse:
        """Return the tree of a sentence."""

    @abstractmethod
    def to_bytes(self, *, with_clusters: bool = True) -> bytes:
        """Return the whole parser as bytes."""

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_bytes, (self.to_bytes(),)  # type: ignore[attr-defined]  # of all that can be pickled

    @property
    def known_words(self) -> Collection[str]:
        """The words that the parser learned from; empty if it does not know them as words."""
        return ()

    @property
    def heads(self) -> HeadRules:
        """The head rules of the treebank that the parser was trained on; by default, the language-independent ones."""
        return HeadRules.from_name("any")

    @property
    def local_trees(self) -> frozenset[LocalTree]:
        """The local trees that training has seen (`parsing/local_trees.py`); by default, they are unknown: none."""
        return frozenset()

    @property
    def clusters(self) -> Clusters | None:
        """The word clusters that the parser uses."""
        return None

    @property
    def tag_request(self) -> TagRequest | None:
        """The tags that the parser needs, by default one per word; None if it assigns its own."""
        return TagRequest()

    @property
    def members(self) -> Sequence[Parser]:
        """The parsers that it combines, if it is a combination; each has a temperature of its own."""
        return ()

    @property
    def answers_with_best(self) -> bool:
        """Whether `parse` returns the highest-scoring tree that it finds."""
        return True

    @property
    def has_posterior(self) -> bool:
        """Whether `posterior` tells the probabilities of phrases, exact ones or averages over members."""
        return self.has_exact_probabilities

    def parse_batch(self, sentences: Iterable[Input]) -> list[Parse]:
        """Return the parses of sentences, each given as the arguments of `parse`, such as (words, tags)."""
        return list(starmap(self.parse, sentences))  # a frame less than a comprehension

    def nbest(self, words: Sequence[str], tags: Tags, k: int, constraints: Constraints = ()) -> list[Parse]:
        """Return up to `k` different trees of a sentence, best first; by default, the only analysis."""
        return [self.parse(words, tags, constraints)]

    def posterior(
        self, words: Sequence[str], tags: Tags, constraints: Constraints = (), *, temperature: float | None = None
    ) -> Posterior | None:
        """Return the exact probabilities of a sentence's trees and phrases; None if only n-best lists tell them.

        temperature: by default, that of the parser.
        """
        return None

    def parse_beside(
        self, wide: Parser, words: Sequence[str], tags: Tags, n: int, *, with_better: bool = False
    ) -> tuple[Parse, list[Parse]]:
        """Return the tree of a sentence, and trees of `with_wide_search`, best first: as a rule n that score no higher.

        It may leave out those that score higher, if `answers_with_best`, unless `with_better`.
        """
        return self.parse(words, tags), wide.nbest(words, tags, min(n + N_SPARE, N_ANALYSES))

    def score(self, words: Sequence[str], tags: Tags | None, tree: Tree) -> TreeScore:
        """Return the score of a given tree. Raises IncparseError if the parser cannot score given trees."""
        raise IncparseError(f"a {self.kind} parser cannot score given trees")

    def start(self, tagger: TagSource | None = None) -> Session:
        """Return a session for parsing a sentence word by word; words without a tag get the tagger's.

        Raises IncparseError if the parser only parses whole sentences.
        """
        raise IncparseError(f"a {self.kind} parser only parses whole sentences, not word by word")

    def with_wide_search(self, n: int) -> Parser:
        """Return this parser with a search that keeps at least `n` hypotheses, whatever their scores."""
        return self

    def with_search(self, **settings: Any) -> Parser:
        """Return a parser with the same weights and other search settings. Raises ConfigError if it has no search."""
        if settings:
            raise ConfigError(f"a {self.kind} parser has no search, so it has no setting {next(iter(settings))!r}")
        return self


class Convergence(NamedTuple):
    """How far training is from its end.

    note: in words, for the training log. is_reached: whether more passes would change nothing.
    """

    note: str
    is_reached: bool


class Learner(Protocol):
    """A parser in training. One that can tell how far it is from the end has a property `convergence`, too.

    By default, passes over the sentences change nothing.
    """

    @property
    def n_models(self) -> int:
        """The number of models trained in parallel, each with its own order of sentences."""
        return 1

    def encode(self, words: Sequence[str], tags: Tags, tree: Tree) -> object:
        """Return a sentence with its gold tree as input for `learn`; encoded once and used in every pass."""
        return None

    def learn(self, example: Any, number: int = 0) -> int:
        """Update one of the models, given by its number, on one sentence; return the number of updates."""
        return 0

    @abstractmethod
    def parser(self) -> Parser:
        """Return the parser learned so far."""

    def state_to_bytes(self) -> bytes:
        """Return the state that training changes."""
        return b""

    def state_from_bytes(self, data: bytes) -> None:
        """Restore the state that `state_to_bytes` returned. Raises ModelError for anything else."""
        return None


def packed_states(states: Iterable[bytes]) -> bytes:
    """Return the states of several learners, taken one by one, in one string: the length of each, then the state."""
    return b"".join(piece for state in states for piece in (len(state).to_bytes(8, "little"), state))


def read_states(data: bytes, readers: Sequence[Callable[[bytes], object]], what: str) -> None:
    """Give each reader its state in what `packed_states` returned.

    what: said of the state if it has not one for each. Raises ModelError for this, and for other bytes.
    """
    with damaged("the training state is damaged"):
        start = 0
        for read in readers:
            end = start + 8 + int.from_bytes(data[start : start + 8], "little")
            read(data[start + 8 : end])
            start = end
        if start != len(data):
            raise ModelError(f"the training state belongs to {what}: start a new training")


class FinishedLearner(Learner):
    """A learner whose parser is already trained."""

    def __init__(self, parser: Parser):
        self._parser = parser

    def parser(self) -> Parser:
        """Return the parser."""
        return self._parser


class FineTuner(Learner, Protocol):
    """A learner that goes on from a trained parser."""

    def extend(self, trees: Sequence[Tree], tags: Sequence[Tags]) -> None:
        """Make room for what more normalized trees have; sentences have to be encoded again after this."""


@dataclass(frozen=True)
class TrainingNeeds:
    """The requirements of a configuration for training.

    tag_request: the tags that the parser is trained with; None: no tagger is trained. clusters, cluster_words: the word
    clusters to read. gold_tag_interval: in each pass, every n-th sentence keeps its gold tags; 0: none does.
    """

    tag_request: TagRequest | None = None
    clusters: str | None = None
    cluster_words: int = 0
    gold_tag_interval: int = 0


class ParserKind(ABC):
    """How parsers of one kind are configured, trained, stored and read."""

    name: ClassVar[str]
    part_name: ClassVar[str]
    """The name of the parser's part in a model file."""
    config_type: ClassVar[type[Settings]]
    recipes: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """Recipes for `--config`: "training" and "search" settings that differ from the defaults, and "max_epochs"."""
    feature_sets: ClassVar[tuple[str, ...]] = ()
    """Names of sets of features that only parsers of this kind have."""
    has_measures: ClassVar[bool] = False
    """Whether parsers of this kind compute the measures of each word (`token._.incparse`)."""
    trains_in_one_pass: ClassVar[bool] = False

    def config(self, settings: Mapping[str, Any]) -> Settings:
        """Return the validated configuration. Raises ConfigError for an unknown name or an invalid value."""
        return self.config_type.from_dict(dict(settings))

    def check_search(self, settings: Mapping[str, Any]) -> None:
        """Raise ConfigError if a search setting is unknown or has an invalid value."""
        self.config_type().with_search(**settings)

    def needs(self, config: Any) -> TrainingNeeds:
        """Return the requirements of a configuration for training."""
        return TrainingNeeds()

    def notice(self, config: Any, trees: Sequence[Tree]) -> str:
        """Return what users should know before a training on normalized trees begins; "" if there is nothing."""
        return ""

    @abstractmethod
    def learner(
        self, trees: Sequence[Tree], tags: Sequence[Tags], config: Any, heads: HeadRules, clusters: Clusters | None
    ) -> Learner:
        """Return a learner for normalized trees, with the tags (one row per tree) to train with."""

    def fine_tuner(self, parser: Any) -> FineTuner:
        """Return a learner that goes on from a trained parser. Raises IncparseError if the kind has none."""
        raise IncparseError(
            f"a {self.name} parser cannot be fine-tuned: train a new one on its treebank and your trees together, or "
            f"fine-tune a perceptron parser, such as 'en'"
        )

    @abstractmethod
    def read(self, data: bytes, clusters: Clusters | None) -> Parser:
        """Return the parser stored by `to_bytes`. Raises ModelError for anything else."""


def requested_tags(tags: Tags, request: TagRequest | None) -> Tags:
    """Return the tags that a parser requests, given the same tagger's tags for a request of more.

    A parser that finds its own tags (None) gets all: it chooses among them.
    """
    if request is None:
        return tags
    return [
        tag if tag is None or isinstance(tag, str)
        else best_tag(tag) if request.n_tags == 1
        else [(name, gap) for name, gap in tag if gap <= request.margin][: request.n_tags]
        for tag in tags
    ]  # fmt: skip


def common_request(requests: Sequence[TagRequest | None]) -> TagRequest | None:
    """Return the smallest request that contains all of these; None if no parser needs tags."""
    needed = [request for request in requests if request is not None]
    if not needed:
        return None
    return TagRequest(max(request.n_tags for request in needed), max(request.margin for request in needed))


def stored_temperature(content: Mapping[str, Any]) -> float | None:
    """Return the temperature of a stored parser; None: it was never fitted. Raises ValueError if it is not positive."""
    temperature: float | None = content["temperature"]
    if temperature is not None and not temperature > 0:
        raise ValueError(f"a temperature of {temperature}")
    return temperature
