"""All settings of a chart parser, with defaults that suit most uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from spacy_incparse.chart.templates import DUAL_SETS, TASKAR_AUX, EdgeTemplate, resolve
from spacy_incparse.errors import ConfigError
from spacy_incparse.linear.clusters import MAX_WORDS
from spacy_incparse.settings import MOST, Settings, check_number, check_range, checked_labels, is_list_of_strings
from spacy_incparse.transforms.markovize import Markovization

MAX_BITS = 26  # of a table
LEARNERS = ("crf", "margin", "dual", "pcfg")
LOSSES = ("phrases", "binarized")
DECODINGS = ("expected_f", "viterbi", "max_rule")
PRUNERS = ("spans", "pcfg", "boolean")
PRUNING = ("normal", "loose", "off")
PRUNING_THRESHOLDS = (1.2e-5, 1.2e-6)
DEFAULT_FEATURES = "span"


@dataclass(frozen=True, kw_only=True)
class ChartConfig(Settings):
    """Settings of a chart parser. The search settings can be changed after training; the others belong to the model.

    features: a named set ("span", "finkel", "rules", "taskar-basic", "taskar-lexical"; for "dual" also
        "taskar-lexical+aux", which has the predictions of two other classifiers) or your own, see
        chart/templates.py.
    learner: "crf" maximizes the probability of the gold trees (Finkel et al. 2008); "margin" their lead over others,
        which has to be as large as the loss of these (MIRA); "dual" minimizes the same as a whole, with the features of
        Taskar et al. (2004), on short sentences that fit into memory; "pcfg" counts rules, and has no features.
    loss: for "margin" and "dual", what is counted as wrong: "phrases" that are wrong or missing, or wrong constituents
        of the "binarized" tree (Taskar et al. 2004).
    margin_step: for "margin", the size of the largest step.
    slack_cost: for "dual", C, what a unit of the loss that is left costs; higher values fit the training trees better.
    gap_tolerance: for "dual", the duality gap, relative to the primal objective, at which training ends.
    score_scale: for "margin", how much larger scores are than in training, which matters for probabilities alone.
    step: for "crf", the size of the steps.
    damping: for "crf", what AdaGrad adds to the sums of squared gradients, so that the first steps are not the largest;
        0: plain gradient ascent with steps of equal size.
    step_halved_after: for "crf", the number of passes after which steps have half the size; 0: they keep their size.
    l2: for "crf", the strength of the prior that keeps weights small.
    softmax_margin: for "crf", what each wrong or missing phrase adds to a tree's score in training, so that worse trees
        count for more (softmax-margin, Gimpel & Smith 2010); 0: the log likelihood alone.
    batch_size: for "crf", the number of sentences after which the weights change.
    table_bits: the table of hashed weights has 2**bits entries.
    branching: "right" splits off the first child of a phrase, "left" the last one, "head" those around the head.
    horizontal: number of siblings (0 to 2) that the label of an active node names.
    vertical: number of ancestors (0 to 2) that the label of a phrase names.
    anchor: whether active nodes also name the child that their chain begins or ends with.
    annotate_tags: whether tags have ancestors as well.
    head_tag_labels: labels of phrases that also name the tag of their head word.
    collapse_unaries: whether a unary chain is one node with a label of its own; otherwise it is a rule.
    close_unaries: whether unary rules seen in training are combined to chains that were not seen.
    relaxed_rules: whether a rule may be used under each ancestor that its parent was seen with (Finkel et al. 2008,
        section 5).
    known_min_count: words seen less often are represented by shape and suffix, see linear/words.py.
    common_min_count: words seen less often are also represented by shape and suffix, in addition to the word itself.
    max_length: sentences with more words are not used in training; 0: all are.
    n_tags: number of the tagger's tags to choose from for each word (1: only the best); 0: no tagger, the parser
        chooses from all tags.
    tag_margin: maximum gap (in the tagger's weights) between the best tag and these.
    gold_tag_interval: use gold tags instead of the tagger's every n-th time that a training sentence is seen; 0: never.
    clusters: word clusters for tagger and parser: a language code or a file, see linear/clusters.py; None: no
        clusters.
    cluster_words: number of the most frequent words that have clusters.
    pruning_folds: number of pruners, each trained without one part, that prune the training sentences; below 2: a
        single one trained on all.
    pruner: "spans" prunes by the probabilities of brackets, from classifiers of spans; "pcfg" by those of phrases, from
        a small grammar; "boolean" leaves all that is part of some tree in which words have tags that they were seen
        with (the exact prefilter of Finkel et al. 2008), which is for short sentences.
    pruning_thresholds: probabilities below which spans and their labels are left out, the strictest first; the next one
        is used for sentences of which nothing is left. With "spans", those of sentences of fewer than 40 words are
        lower in proportion.
    decoding: "expected_f" returns the tree with the best expected F (Goodman 1996), "viterbi" the most probable one,
        "max_rule" the one with the highest product of probabilities of its rules (Petrov & Klein 2007). `choose`, as in
        other parsers, is another name of this setting, and "score" of "viterbi".
    threshold: for "expected_f", the probability from which on a phrase is worth having; lower values give more phrases.
    choose_temperature: divides the scores for "expected_f" and "max_rule"; higher values make trees more equally
        probable.
    pruning: "normal" uses all thresholds; "loose" begins with the second one, if there are several; "off" does not
        prune, which is slow.
    """

    SEARCH = ("decoding", "threshold", "choose_temperature", "pruning")
    INSTEAD: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("choose_from", "choose_trees"), "a chart parser knows the probabilities of all trees of a sentence"
    )

    features: str | dict[str, Sequence[str]] = DEFAULT_FEATURES
    learner: str = "crf"
    loss: str = "phrases"
    margin_step: float = 0.01
    slack_cost: float = 1.0
    gap_tolerance: float = 0.02
    score_scale: float = 3.0
    step: float = 0.05
    damping: float = 1.0
    step_halved_after: float = 0.0
    l2: float = 0.0
    softmax_margin: float = 0.0
    batch_size: int = 1
    table_bits: int = 22
    branching: str = "right"
    horizontal: int = 0
    vertical: int = 0
    anchor: bool = False
    annotate_tags: bool = False
    head_tag_labels: Sequence[str] = ()
    collapse_unaries: bool = False
    close_unaries: bool = False
    relaxed_rules: bool = False
    known_min_count: int = 2
    common_min_count: int = 5
    max_length: int = 0
    n_tags: int = 3
    tag_margin: float = 80.0
    gold_tag_interval: int = 0
    clusters: str | None = None
    cluster_words: int = MAX_WORDS
    pruner: str = "spans"
    pruning_folds: int = 5
    pruning_thresholds: Sequence[float] = PRUNING_THRESHOLDS
    decoding: str = "expected_f"
    threshold: float = 0.4
    choose_temperature: float = 1.0
    pruning: str = "normal"

    def __post_init__(self) -> None:
        if self.decoding == "score":
            object.__setattr__(self, "decoding", "viterbi")
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise ConfigError(f"{name} is {getattr(self, name)!r}: choose one of {', '.join(choices)}")
        for name in _FLAGS:
            if not isinstance(getattr(self, name), bool):
                raise ConfigError(f"{name} is {getattr(self, name)!r}: it must be true or false")
        for name, (least, most) in _WHOLE.items():
            check_number(name, getattr(self, name), least, most)
        for name, bounds in _RANGES.items():
            check_range(name, getattr(self, name), *bounds)
        _check_features(self.features)
        if self.learner == "pcfg" and self.features != DEFAULT_FEATURES:
            raise ConfigError(f"features is {self.features!r}, but learner = 'pcfg' counts rules and has no features")
        _check_dual(self)
        if not (self.clusters is None or isinstance(self.clusters, str)):
            raise ConfigError(f"clusters is {self.clusters!r}: it must be a language's code or the path of a file")
        object.__setattr__(self, "head_tag_labels", checked_labels("head_tag_labels", self.head_tag_labels))
        object.__setattr__(self, "pruning_thresholds", _checked_thresholds(self.pruning_thresholds))

    @property
    def templates(self) -> tuple[EdgeTemplate, ...]:
        """The checked templates of the features. Raises ConfigError for unknown ones."""
        return resolve(self.features, clusters=self.clusters is not None)

    @property
    def markovization(self) -> Markovization:
        """How trees become binary, and what their labels tell."""
        return Markovization(
            branching=self.branching,
            horizontal=self.horizontal,
            anchor=self.anchor,
            vertical=self.vertical,
            annotate_tags=self.annotate_tags,
            head_tag_labels=tuple(self.head_tag_labels),
            collapse_unaries=self.collapse_unaries,
        )


def _check_features(features: Any) -> None:
    are_templates = isinstance(features, Mapping) and all(map(is_list_of_strings, features.values()))
    if not (isinstance(features, str) or are_templates):
        raise ConfigError(f"features is {features!r}: it must be a named set, or lists of templates by their kinds")
    resolve(features)


def _check_dual(config: ChartConfig) -> None:
    """Raise ConfigError if the factored dual cannot learn the features, or another learner shall learn its own."""
    if config.learner != "dual":
        if config.features == TASKAR_AUX:
            raise ConfigError(f"features {TASKAR_AUX!r} are for learner = 'dual', not {config.learner!r}")
        return
    if config.features not in DUAL_SETS:
        raise ConfigError(f"learner = 'dual' has features of its own: features must be one of {', '.join(DUAL_SETS)}")
    if config.gold_tag_interval:
        raise ConfigError("learner = 'dual' keeps one forest of each sentence: gold_tag_interval must be 0")


def _checked_thresholds(values: Any) -> tuple[float, ...]:
    if not isinstance(values, list | tuple) or not values:
        raise ConfigError(f"pruning_thresholds is {values!r}: it must be a list of numbers from 0 to 1")
    for value in values:
        check_range("pruning_thresholds", value, 0, 1)
    if list(values) != sorted(values, reverse=True):
        raise ConfigError(f"pruning_thresholds is {values!r}: the highest threshold comes first")
    return tuple(map(float, values))


_CHOICES: Mapping[str, tuple[str, ...]] = {
    "learner": LEARNERS, "loss": LOSSES, "branching": ("right", "left", "head"), "decoding": DECODINGS,
    "pruner": PRUNERS, "pruning": PRUNING,
}  # fmt: skip
_FLAGS = ("anchor", "annotate_tags", "collapse_unaries", "close_unaries", "relaxed_rules")
_WHOLE = {
    "horizontal": (0, 2), "vertical": (0, 2), "known_min_count": (1, MOST), "common_min_count": (1, MOST),
    "max_length": (0, MOST), "n_tags": (0, MOST), "gold_tag_interval": (0, MOST), "cluster_words": (1, MOST),
    "pruning_folds": (0, MOST), "batch_size": (1, MOST), "table_bits": (8, MAX_BITS),
}  # fmt: skip
_RANGES = {
    "step": (0, 1e3), "margin_step": (0, 1e3), "score_scale": (0.01, 1e3), "slack_cost": (0, 1e6),
    "gap_tolerance": (0, 1), "damping": (0, 1e6), "step_halved_after": (0, MOST), "l2": (0, 1e6),
    "softmax_margin": (0, 1e3), "tag_margin": (0, MOST), "threshold": (0, 1), "choose_temperature": (0.01, 1e6),
}  # fmt: skip
