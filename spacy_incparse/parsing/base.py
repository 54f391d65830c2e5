"""A base class for parsers, with the simplest implementation of each method."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import cast

from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.linear.clusters import Clusters
from spacy_incparse.parsing.nbest import with_spare
from spacy_incparse.parsing.parse import Constraints, Parse, Posterior, Tags, TreeScore
from spacy_incparse.parsing.parser import ConstituencyParser, Session, TagRequest, TagSource
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree


class BaseParser(ABC):
    """A trained parser that needs one tag per word and returns one tree per sentence.

    Subclasses define `tags` and `labels`, implement `parse` and `to_bytes`, and override whatever they do better.
    """

    kind: str
    temperature: float | None = None
    score_tolerance: float = 0.0
    """By how much the scores of one tree may differ between two runs."""

    @abstractmethod
    def parse(self, words: Sequence[str], tags: Tags, constraints: Constraints = ()) -> Parse:
        """Return the tree of a sentence."""

    @abstractmethod
    def to_bytes(self, *, with_clusters: bool = True) -> bytes:
        """Return the whole parser as bytes."""

    @property
    def clusters(self) -> Clusters | None:
        """None: the parser does not use word clusters."""
        return None

    @property
    def tag_request(self) -> TagRequest | None:
        """The tags that the parser needs: one per word."""
        return TagRequest()

    @property
    def answers_with_best(self) -> bool:
        """Whether `parse` returns the highest-scoring tree that it finds."""
        return True

    @property
    def members(self) -> Sequence[ConstituencyParser]:
        """(): the parser does not combine others."""
        return ()

    @property
    def heads(self) -> HeadRules:
        """The language-independent head rules."""
        return HeadRules.from_name("any")

    @property
    def has_exact_probabilities(self) -> bool:
        """False: only n-best lists tell the probabilities of trees."""
        return False

    @property
    def has_posterior(self) -> bool:
        """Whether `posterior` tells the probabilities of phrases."""
        return self.has_exact_probabilities

    def parse_batch(self, sentences: Iterable[tuple]) -> list[Parse]:
        """Return the parses of sentences, each given as (words, tags) or (words, tags, constraints)."""
        return [self.parse(*sentence) for sentence in sentences]

    def nbest(self, words: Sequence[str], tags: Tags, k: int, constraints: Constraints = ()) -> list[Parse]:
        """Return the only analysis."""
        return [self.parse(words, tags, constraints)]

    def posterior(
        self, words: Sequence[str], tags: Tags, constraints: Constraints = (), temperature: float | None = None
    ) -> Posterior | None:
        """Return None: only n-best lists tell the probabilities of trees."""
        return None

    def parse_beside(
        self, wide: ConstituencyParser, words: Sequence[str], tags: Tags, n: int, *, with_better: bool = False
    ) -> tuple[Parse, list[Parse]]:
        """Return the tree of a sentence, and trees of `with_wide_search`, enough for n others that score no higher."""
        return self.parse(words, tags), wide.nbest(words, tags, with_spare(n))

    def score(self, words: Sequence[str], tags: Tags | None, tree: Tree) -> TreeScore:
        """Raise IncparseError: this parser cannot score given trees."""
        raise IncparseError(f"a {self.kind} parser cannot score given trees")

    def start(self, tagger: TagSource | None = None) -> Session:
        """Raise IncparseError: this parser only parses whole sentences."""
        raise IncparseError(f"a {self.kind} parser only parses whole sentences, not word by word")

    def with_wide_search(self, n: int) -> ConstituencyParser:
        """Return the parser itself: it has no search."""
        return cast("ConstituencyParser", self)

    def with_search(self, **settings: object) -> ConstituencyParser:
        """Return the parser itself. Raises ConfigError for any setting: it has no search."""
        if settings:
            raise ConfigError(f"a {self.kind} parser has no search, so it has no setting {next(iter(settings))!r}")
        return cast("ConstituencyParser", self)


class FinishedLearner:
    """A learner whose parser is already trained; passes over the sentences change nothing."""

    n_models = 1

    def __init__(self, parser: ConstituencyParser):
        self._parser = parser

    def encode(self, words: Sequence[str], tags: Tags, tree: Tree) -> object:
        """Return None: the parser does not learn from single sentences."""
        return None

    def learn(self, example: object, number: int = 0) -> int:
        """Return 0, the number of updates."""
        return 0

    def parser(self) -> ConstituencyParser:
        """Return the parser."""
        return self._parser

    def state_to_bytes(self) -> bytes:
        """Return no bytes: training changes nothing."""
        return b""

    def state_from_bytes(self, data: bytes) -> None:
        """Do nothing."""
