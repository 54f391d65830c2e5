"""The kind of parser "chart": its settings, its recipe, training and storage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, ClassVar, cast

from spacy_incparse.chart.templates import NAMED_SETS, EdgeTemplate, EdgeTemplateSet, resolve
from spacy_incparse.errors import ConfigError
from spacy_incparse.linear.words import MAX_WORDS
from spacy_incparse.parsing.parser import Learner, Parser, ParserKind, TagRequest, TrainingNeeds
from spacy_incparse.settings import MOST, Settings, check_choice, check_number, check_range, is_list_of_strings
from spacy_incparse.transforms.binarize import Markovization

if TYPE_CHECKING:
    from spacy_incparse.linear.words import Clusters
    from spacy_incparse.parsing.parse import Tags
    from spacy_incparse.trees.heads import HeadRules
    from spacy_incparse.trees.tree import Tree

MAX_BITS = 26  # of a table
DECODINGS = ("expected_f", "viterbi", "max_rule")
PRUNING = ("normal", "loose", "off")
TAG_MARGIN = 80.0  # in the tagger's weights: tags further from the best one are not among those to choose from


class ChartSettings(Settings):
    """What all kinds of chart parsers can be asked about their settings; each has some of these as fields."""

    FEATURE_SETS: ClassVar[Mapping[str, tuple[EdgeTemplateSet, EdgeTemplateSet]]] = NAMED_SETS
    features: str | dict[str, Sequence[str]]
    table_bits: int = 22
    n_tags: int = 0
    max_length: int = 0
    clusters: str | None = None
    decoding: str = "viterbi"
    threshold: float = 0.4
    choose_temperature: float = 1.0
    pruning: str = "normal"

    def __post_init__(self) -> None:
        for name, choices in (("decoding", DECODINGS), ("pruning", PRUNING)):
            check_choice(name, getattr(self, name), choices)
        check_number("table_bits", self.table_bits, 8, MAX_BITS)
        check_number("n_tags", self.n_tags, 0, MOST)
        check_number("max_length", self.max_length, 0, MOST)
        check_range("threshold", self.threshold, 0, 1)
        check_range("choose_temperature", self.choose_temperature, 0.01, 1e6)
        if not (self.clusters is None or isinstance(self.clusters, str)):
            raise ConfigError(f"clusters is {self.clusters!r}: it must be a language's code or the path of a file")
        are_templates = isinstance(self.features, Mapping) and all(map(is_list_of_strings, self.features.values()))
        if not (isinstance(self.features, str) or are_templates):
            raise ConfigError(
                f"features is {self.features!r}: it must be a named set, or lists of templates by their kinds"
            )
        _ = self.templates  # raises its errors

    @property
    def templates(self) -> tuple[EdgeTemplate, ...]:
        """The checked templates of the features. Raises ConfigError for unknown ones."""
        return resolve(self.features, clusters=self.clusters is not None, named=self.FEATURE_SETS)

    @property
    def markovization(self) -> Markovization:
        """How trees become binary, and what their labels tell: nothing of the context (X-bar)."""
        return Markovization()

    @property
    def tag_request(self) -> TagRequest | None:
        """The tags that words have to have."""
        return TagRequest(self.n_tags, TAG_MARGIN) if self.n_tags else None


@dataclass(frozen=True, kw_only=True)
class ChartConfig(ChartSettings):
    """Settings of a chart parser. The search settings can be changed after training; the others belong to the model.

    features: the named set "span" or your own templates, see chart/templates.py.
    softmax_margin: what each wrong or missing phrase adds to a tree's score in training (Gimpel & Smith 2010).
    table_bits: the table of hashed weights has 2**table_bits rows.
    n_tags: number of the tagger's tags to choose from for each word; 0: no tagger, the parser chooses from all tags.
    clusters: word clusters for tagger and parsers: a language code or a file; None: none. The model stores what it
        needs. Named feature sets add features of them.
    decoding: "expected_f" returns the tree of the best expected F by `threshold`, "viterbi" the most probable one,
        "max_rule" the one with the highest product of probabilities of its rules (Petrov & Klein 2007).
    threshold: the probability from which on a phrase is worth having; lower values give more phrases.
    choose_temperature: divides the scores for probabilities; higher values make trees more equally probable.
    pruning: "normal" leaves what span classifiers find probable; "loose" leaves more, and takes more time; "off" does
        not prune, which is slow.
    """

    SEARCH = ("decoding", "threshold", "choose_temperature", "pruning")
    INSTEAD: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("choose_from", "choose_trees"), "a chart parser knows the probabilities of all trees of a sentence"
    )

    features: str | dict[str, Sequence[str]] = "span"
    softmax_margin: float = 0.0
    table_bits: int = 22
    n_tags: int = 3
    clusters: str | None = None
    decoding: str = "expected_f"
    threshold: float = 0.4
    choose_temperature: float = 1.0
    pruning: str = "normal"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("softmax_margin", self.softmax_margin, 0, 1e3)


class ChartKind(ParserKind):
    """Chart parsers with linear scores (Hall, Durrett & Klein 2014), learned as conditional random fields."""

    name = "chart"
    part_name = "chart"
    config_type: ClassVar[type[Settings]] = ChartConfig
    recipes: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "chart": {"training": {"softmax_margin": 1.0}, "max_epochs": 3}
    }
    feature_sets: ClassVar[tuple[str, ...]] = tuple(NAMED_SETS)
    learner_name: ClassVar[str] = "spacy_incparse.chart.learner:ChartLearner"
    """The class of its learner, whose `parser_type` is that of its parsers: compiled modules are loaded only then."""

    def needs(self, config: ChartSettings) -> TrainingNeeds:
        """Return what training with a configuration needs."""
        return TrainingNeeds(config.tag_request, config.clusters, MAX_WORDS)

    def learner(
        self, trees: Sequence[Tree], tags: Sequence[Tags], config: Any, heads: HeadRules, clusters: Clusters | None
    ) -> Learner:
        """Return a learner with the grammar and the pruners of the trees."""
        return cast("Learner", resolve_name(self.learner_name)(trees, tags, config, heads, clusters))

    def read(self, data: bytes, clusters: Clusters | None) -> Parser:
        """Return the parser that `to_bytes` wrote. Raises ModelError for anything else."""
        return cast("Parser", resolve_name(self.learner_name).parser_type.from_bytes(data, clusters))


CHART = ChartKind()
