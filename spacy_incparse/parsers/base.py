"""What parsers have in common, whatever their model: a base class with the simplest answer to everything."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import cast

from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.lexicon.clusters import Clusters
from spacy_incparse.parsers.constraints import Constraints
from spacy_incparse.parsers.parse import Parse, Tags
from spacy_incparse.parsers.protocol import ConstituencyParser, Session, TagRequest, TagSource
from spacy_incparse.parsers.tree_scores import TreeScore
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree


class BaseParser(ABC):
    """A trained parser that has to be given one tag per word and knows one tree per sentence.

    Subclasses have `tags` and `labels`, implement `parse` and `to_bytes`, and override what they do better.
    """

    kind: str
    temperature: float | None = None

    @abstractmethod
    def parse(self, words: Sequence[str], tags: Tags, constraints: Constraints = ()) -> Parse:
        """Return the tree of a sentence."""

    @abstractmethod
    def to_bytes(self, *, with_clusters: bool = True) -> bytes:
        """Return the whole parser as bytes."""

    @property
    def clusters(self) -> Clusters | None:
        """The word clusters that it reads: none."""
        return None

    @property
    def tag_request(self) -> TagRequest | None:
        """The tags that it has to be given: one per word."""
        return TagRequest()

    @property
    def answers_with_best(self) -> bool:
        """Whether `parse` returns the tree with the highest score of those that it finds."""
        return True

    @property
    def heads(self) -> HeadRules:
        """The head rules: those for any language."""
        return HeadRules.from_name("any")

    @property
    def needs_tags(self) -> bool:
        """Whether it has to be given tags."""
        return self.tag_request is not None

    def parse_batch(self, sentences: Iterable[tuple]) -> list[Parse]:
        """Parse sentences, each given as words and tags, and constraints if there are any."""
        return [self.parse(*sentence) for sentence in sentences]

    def nbest(self, words: Sequence[str], tags: Tags, k: int, constraints: Constraints = ()) -> list[Parse]:
        """Return the only analysis."""
        return [self.parse(words, tags, constraints)]

    def score(self, words: Sequence[str], tags: Tags | None, tree: Tree) -> TreeScore:
        """Raise IncparseError: this parser cannot score given trees."""
        raise IncparseError(f"a {self.kind} parser cannot score given trees")

    def start(self, tagger: TagSource | None = None) -> Session:
        """Raise IncparseError: this parser needs whole sentences."""
        raise IncparseError(f"a {self.kind} parser needs whole sentences: it cannot take them word by word")

    def with_wide_search(self, n: int) -> ConstituencyParser:
        """Return the parser itself: it has no search."""
        return cast(ConstituencyParser, self)

    def with_search(self, **settings: object) -> ConstituencyParser:
        """Return the parser itself. Raises ConfigError for any setting: it has no search."""
        if settings:
            raise ConfigError(f"a {self.kind} parser has no search, so there is no setting {next(iter(settings))!r}")
        return cast(ConstituencyParser, self)
