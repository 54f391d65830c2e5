"""All settings of a parser, each with the default that suits most people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from math import inf
from typing import Any

from spacy_incparse.errors import ConfigError
from spacy_incparse.features.templates import Template, resolve
from spacy_incparse.lexicon.clusters import MAX_WORDS

CONJUNCTIONS = ("CC", "CONJ", "CCONJ", "CONJP", "KON", "KOORD", "coord", "conj")
UPDATES = ("early", "max_violation", "full")
MOST = 1_000_000_000  # of whole numbers, which have to fit into 32 bits of the compiled code
MOST_SEED = 2**63 - 1  # seeds do not get there, but into files


@dataclass(frozen=True, kw_only=True)
class ParserConfig:
    """Settings of a parser; those of the search may be changed after training, the others belong to the model.

    features: a named set ("paper", "paper+punct", "rich", "accurate") or a user's own, see features/templates.py.
    conjunctions: labels that link conjuncts.
    chain_min_count, triple_min_count: how often chains and triples must be seen to be in the grammar (section 3.1);
        chains up to length 2 always are.
    known_min_count: words seen so often are known by themselves, others by shape and suffix, see lexicon/words.py.
    common_min_count: words seen less often have shape and suffix besides.
    table_bits: 2**bits rows of hashed weights.
    beam_size: the most hypotheses kept after a word.
    gamma: the filter of equation 3, in averaged weights: the higher, the more hypotheses stay; None: just beam_size.
    seen_min_count: contexts seen so often in training allow only outcomes seen there; 0: off.
    seen_min_share: such contexts do not allow outcomes with a smaller share either.
    train_beam_size: beam_size while training.
    train_gamma: gamma while training, in raw weights.
    train_seen_min_count: seen_min_count while training.
    update: where a sentence that went wrong is compared with its gold tree: "early" (where that leaves the beam),
        "max_violation" (where it is farthest behind) or "full" (at the end).
    margin: by how much (in weights) a gold parse has to lead to be left alone.
    step_decay: c; the n-th change of a weight has the size 1 / sqrt(1 + c * n). With this and margin 0 it is the
        paper's perceptron.
    n_tags: under how many of a tagger's tags a word may be absorbed (1: the best only); the tree decides.
    tag_margin: these are at most so far (in the tagger's weights) behind the best.
    n_models: how many models are trained, each with its own order of sentences; their mean is the parser's.
    gold_tag_interval: every how many-th time a training sentence comes with its gold tags instead of a tagger's (0:
        never): right tags teach syntax, wrong ones what tags are worth.
    clusters: word clusters for tagger and parser, a language's code or a file, see lexicon/cluster_files.py; None: no
        clusters. They are read in training and kept in the model; a named set of features has theirs besides.
    cluster_words: of how many words, the most frequent ones.
    generative_weight: of a hybrid: the weight of the natural log probability of its generative model (section 5).
    train_generative_weight: generative_weight while training, when weights are larger than their averages; 0: the
        parser is a perceptron alone, and no hybrid.
    generative_folds: so many generative models, each without a part, score the training sentences; below 2: one of all.
    cache_size: for how many sentences hypotheses are used again and again (figure 4); 0: off.
    cache_candidates: how many hypotheses of each are kept.
    cache_interval: how many sentences lie between two sweeps over them.
    cache_t1: how many rounds a sweep has.
    cache_t2: how often a sentence changes the weights at most.
    """

    features: str | dict[str, Sequence[str]] = "rich"
    conjunctions: Sequence[str] = CONJUNCTIONS
    chain_min_count: int = 1
    triple_min_count: int = 1
    known_min_count: int = 2
    common_min_count: int = 5
    table_bits: int = 22
    beam_size: int = 100
    gamma: float | None = 3e5
    seen_min_count: int = 10
    seen_min_share: float = 0.0
    train_beam_size: int = 64
    train_gamma: float | None = 1e6
    train_seen_min_count: int = 30
    update: str = "early"
    margin: float = 100.0
    step_decay: float = 0.1
    n_tags: int = 1
    tag_margin: float = 40.0
    n_models: int = 1
    gold_tag_interval: int = 2
    clusters: str | None = None
    cluster_words: int = MAX_WORDS
    generative_weight: float = 0.0
    train_generative_weight: float = 0.0
    generative_folds: int = 10
    cache_size: int = 0
    cache_candidates: int = 10
    cache_interval: int = 100
    cache_t1: int = 5
    cache_t2: int = 50

    def __post_init__(self) -> None:
        _check_features(self.features)
        if self.update not in UPDATES:
            raise ConfigError(f"update is {self.update!r}: choose one of {', '.join(UPDATES)}")
        for name, least in _LEAST.items():
            self._check_setting(name, least)
        if not (self.clusters is None or isinstance(self.clusters, str)):
            raise ConfigError(f"clusters is {self.clusters!r}: it must be a language's code or the path of a file")
        object.__setattr__(self, "conjunctions", checked_labels("conjunctions", self.conjunctions))
        if self.generative_weight and not self.is_hybrid:
            raise ConfigError(
                f"generative_weight is {self.generative_weight!r}, but the parser is no hybrid, whose "
                f"train_generative_weight is above 0"
            )

    def _check_setting(self, name: str, least: int) -> None:
        value = getattr(self, name)
        if name in _MAY_BE_NONE and value is None:
            return
        if name in _MAY_BE_NONE and value == inf:  # which no config file can hold
            raise ConfigError(f"{name} is {value!r}: it must be a finite number, or None (in files null) for no filter")
        is_whole = name not in _MAY_BE_FRACTIONS
        check_number(name, value, least, _MOST.get(name, MOST if is_whole else _MOST_FRACTION), is_whole=is_whole)

    @property
    def is_hybrid(self) -> bool:
        """Whether there is a generative model in the parser."""
        return self.train_generative_weight > 0

    @property
    def templates(self) -> tuple[Template, ...]:
        """The checked templates of the features. Raises ConfigError for those that do not exist."""
        return resolve(self.features, clusters=self.clusters is not None)

    def with_search(self, **settings: Any) -> ParserConfig:
        """Give a copy with other search settings. Raises ConfigError for what belongs to the trained model."""
        for name in settings:
            if name not in SEARCH_SETTINGS:
                raise ConfigError(f"{name!r} is no search setting: choose among {', '.join(SEARCH_SETTINGS)}")
        return replace(self, **settings)

    def to_dict(self) -> dict[str, Any]:
        """Give all settings as a dict, fit for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ParserConfig:
        """Make a configuration from a dict. Raises ConfigError for a name that is no setting."""
        known = {f.name for f in fields(cls)}
        for name in data:
            if name not in known:
                raise ConfigError(f"there is no setting {name!r}: the settings are {', '.join(sorted(known))}")
        return cls(**data)


def check_number(name: str, value: Any, least: float, most: float, *, is_whole: bool = True) -> None:
    """Raise ConfigError for what is no number, is a fraction where it must be whole, or is too small or too large."""
    if isinstance(value, bool) or not isinstance(value, int if is_whole else (int, float)):
        raise ConfigError(f"{name} is {value!r}: it must be a {'whole ' if is_whole else ''}number")
    if not value >= least:  # "not", so that NaN is refused too
        raise ConfigError(f"{name} is {value!r}: it must be at least {least}")
    if value > most:
        raise ConfigError(f"{name} is {value!r}: it must be at most {most}")


def checked_labels(name: str, value: Any) -> tuple[str, ...]:
    """Return a setting that is a list of labels as a tuple. Raises ConfigError for anything else."""
    if not _is_list(value):
        raise ConfigError(f"{name} is {value!r}: it must be a list of labels")
    return tuple(value)


def _check_features(features: Any) -> None:
    if not (isinstance(features, str) or (isinstance(features, Mapping) and all(map(_is_list, features.values())))):
        raise ConfigError(f"features is {features!r}: it must be a named set, or lists of templates by their kinds")
    resolve(features)


def _is_list(texts: Any) -> bool:
    return isinstance(texts, list | tuple) and all(isinstance(text, str) for text in texts)


SEARCH_SETTINGS = ("beam_size", "gamma", "seen_min_count", "seen_min_share", "generative_weight")
_MAY_BE_NONE = ("gamma", "train_gamma")
_MAY_BE_FRACTIONS = (
    "gamma", "train_gamma", "seen_min_share", "margin", "step_decay", "tag_margin", "generative_weight",
    "train_generative_weight",
)  # fmt: skip
_MOST_FRACTION = 1e300
_MOST_WEIGHT = 10_000  # of a log probability, or scores would not fit into 32 bits of the compiled code
_MOST = {  # where it is another than the usual bound
    "table_bits": 28, "seen_min_share": 1, "margin": MOST, "tag_margin": MOST,
    "generative_weight": _MOST_WEIGHT, "train_generative_weight": _MOST_WEIGHT,
}  # fmt: skip
_LEAST = {
    "chain_min_count": 1, "triple_min_count": 1, "known_min_count": 1, "common_min_count": 1, "table_bits": 8,
    "beam_size": 1, "gamma": 0, "seen_min_count": 0, "seen_min_share": 0,
    "train_beam_size": 1, "train_gamma": 0,
    "train_seen_min_count": 0, "margin": 0, "step_decay": 0, "n_tags": 1, "tag_margin": 0, "n_models": 1,
    "gold_tag_interval": 0, "cluster_words": 1, "generative_weight": 0, "train_generative_weight": 0,
    "generative_folds": 0,
    "cache_size": 0, "cache_candidates": 1, "cache_interval": 1, "cache_t1": 1, "cache_t2": 1,
}  # fmt: skip
