"""What every parser offers, and what every kind of parser says of itself.

Components, commands, evaluation and benchmarks know parsers by these protocols alone. A new kind of parser implements
`ConstituencyParser` and `Learner`, describes itself as a `ParserKind`, and is registered in the catalogue
(`parsers/catalogue.py`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

from spacy_incparse.errors import IncparseError
from spacy_incparse.parsers.constraints import Constraints
from spacy_incparse.parsers.parse import Parse, Tag, Tags
from spacy_incparse.settings import Settings
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from spacy_incparse.lexicon.clusters import Clusters
    from spacy_incparse.parsers.tree_scores import TreeScore


class TagRequest(NamedTuple):
    """The tags that a parser wants for each word: up to `n_tags`, none more than `margin` below the best."""

    n_tags: int = 1
    margin: float = 0.0


class TagSource(Protocol):
    """A tagger, as parsers and sessions need it."""

    @property
    def look_ahead(self) -> int:
        """How many words after a word it looks at."""

    def candidate_tags(self, sentences: Sequence[Sequence[str]], n_tags: int, margin: float) -> Sequence[Tags]:
        """Return the tags of each sentence."""


class Session(Protocol):
    """A sentence that comes word by word. Sessions are immutable: `push` returns a new one."""

    @property
    def words(self) -> tuple[str, ...]:
        """The words pushed so far."""

    @property
    def answered(self) -> int:
        """For how many of the words there is an answer."""

    def push(self, word: str, tag: Tag = None) -> Session:
        """Return the session with one more word."""

    def best(self, *, complete: bool = False) -> Parse:
        """Return the best analysis of the words that are answered for."""

    def nbest(self, k: int, *, complete: bool = False) -> list[Parse]:
        """Return up to `k` analyses, the best first."""


class ConstituencyParser(Protocol):
    """A trained parser. Tags are given to it; it asks nobody for them."""

    @property
    def kind(self) -> str:
        """The name of its kind in the catalogue."""

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags that it knows, the most frequent first."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the phrases that it can give, sorted."""

    @property
    def heads(self) -> HeadRules:
        """The head rules of the treebank that it was trained on."""

    @property
    def clusters(self) -> Clusters | None:
        """The word clusters that it reads."""

    @property
    def tag_request(self) -> TagRequest | None:
        """The tags that it has to be given; None if it finds its own."""

    @property
    def needs_tags(self) -> bool:
        """Whether it has to be given tags."""

    @property
    def answers_with_best(self) -> bool:
        """Whether `parse` returns the tree with the highest score of those that it finds."""

    temperature: float | None
    """What makes probabilities of its scores; None if it was never fitted."""

    def parse(self, words: Sequence[str], tags: Tags, constraints: Constraints = ()) -> Parse:
        """Return the tree of a sentence."""

    def parse_batch(self, sentences: Iterable[tuple]) -> list[Parse]:
        """Parse sentences, each given as words and tags, and constraints if there are any."""

    def nbest(self, words: Sequence[str], tags: Tags, k: int, constraints: Constraints = ()) -> list[Parse]:
        """Return up to `k` different trees of a sentence, the best first."""

    def with_wide_search(self, n: int) -> ConstituencyParser:
        """Return this parser with a search that keeps `n` hypotheses or more, whatever they score."""

    def score(self, words: Sequence[str], tags: Tags | None, tree: Tree) -> TreeScore:
        """Return the score of a given tree."""

    def start(self, tagger: TagSource | None = None) -> Session:
        """Begin a sentence that comes word by word; words without a tag get the tagger's."""

    def with_search(self, **settings: object) -> ConstituencyParser:
        """Return a parser with the same weights and other settings of the search."""

    def to_bytes(self, *, with_clusters: bool = True) -> bytes:
        """Return the whole parser as bytes."""


class Learner(Protocol):
    """A parser in training."""

    @property
    def n_models(self) -> int:
        """How many models learn side by side, each with its own order of sentences."""

    def encode(self, words: Sequence[str], tags: Tags, tree: Tree) -> object:
        """Return a sentence with its gold tree in the form that `learn` takes; made once, used in every pass."""

    def learn(self, example: Any, number: int = 0) -> int:
        """Learn from one sentence with the model of this number; return the number of updates."""

    def parser(self) -> ConstituencyParser:
        """Return the parser that has been learned so far."""

    def state_to_bytes(self) -> bytes:
        """Return everything that learning changes."""

    def state_from_bytes(self, data: bytes) -> None:
        """Restore what `state_to_bytes` returned. Raises ModelError for anything else."""


class FineTuner(Learner, Protocol):
    """A learner that goes on from a trained parser."""

    def extend(self, trees: Sequence[Tree], tags: Sequence[Tags]) -> None:
        """Make room for what more normalized trees have; sentences have to be encoded again after this."""


@dataclass(frozen=True)
class TrainingNeeds:
    """What a configuration needs of its training.

    tag_request: the tags that the parser is trained with; None: no tagger is trained. clusters, cluster_words: the word
    clusters to read. gold_tag_interval: in each pass every n-th sentence has its gold tags; 0: never.
    """

    tag_request: TagRequest | None = None
    clusters: str | None = None
    cluster_words: int = 0
    gold_tag_interval: int = 0


class ParserKind(ABC):
    """How parsers of one kind are configured, trained, stored and read."""

    name: ClassVar[str]
    part_name: ClassVar[str]
    """The name of its part in a model's file."""
    config_type: ClassVar[type[Settings]]
    recipes: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """What `--config` may name: settings of "training" and "search" that differ from the defaults, and "max_epochs"."""
    has_measures: ClassVar[bool] = False
    """Whether its parsers know what each word costs (`token._.incparse`)."""
    trains_in_one_pass: ClassVar[bool] = False

    def is_meant_by(self, settings: Mapping[str, Any]) -> bool:
        """Return whether settings without a `kind` describe a parser of this one, as those of version 0.1 do."""
        return settings.get("features") == self.name

    def config(self, settings: Mapping[str, Any]) -> Settings:
        """Return the checked configuration. Raises ConfigError for an unknown name or a wrong value."""
        return self.config_type.from_dict(dict(settings))

    def check_search(self, settings: Mapping[str, Any]) -> None:
        """Raise ConfigError for settings that are not settings of its search, or have wrong values."""
        self.config_type().with_search(**settings)

    def needs(self, config: Any) -> TrainingNeeds:
        """Return what training with a configuration needs."""
        return TrainingNeeds()

    @abstractmethod
    def learner(
        self, trees: Sequence[Tree], tags: Sequence[Tags], config: Any, heads: HeadRules, clusters: Clusters | None
    ) -> Learner:
        """Return a learner for normalized trees under the tags (one row per tree) that it will be trained with."""

    def fine_tuner(self, parser: Any) -> FineTuner:
        """Return a learner that goes on from a trained parser. Raises IncparseError if the kind has none."""
        raise IncparseError(
            f"a {self.name} parser cannot be fine-tuned: train a new one on its treebank and your trees together, or "
            f"fine-tune a perceptron parser, such as 'en'"
        )

    @abstractmethod
    def read(self, data: bytes, clusters: Clusters | None) -> ConstituencyParser:
        """Return the parser that `to_bytes` wrote. Raises ModelError for anything else."""
