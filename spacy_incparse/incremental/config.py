"""All settings of a parser, with defaults that suit most uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from spacy_incparse.errors import ConfigError
from spacy_incparse.linear.clusters import MAX_WORDS
from spacy_incparse.linear.templates import Template, resolve
from spacy_incparse.parsing.choice import CHOICE_SETTINGS, ChoiceSettings
from spacy_incparse.settings import MOST, check_number, checked_labels, is_list_of_strings

CONJUNCTIONS = ("CC", "CONJ", "CCONJ", "CONJP", "KON", "KOORD", "coord", "conj")
UPDATES = ("early", "max_violation", "full")


@dataclass(frozen=True, kw_only=True)
class ParserConfig(ChoiceSettings):
    """Settings of a parser. The search settings can be changed after training; the others belong to the model.

    features: a named set ("paper", "paper+punct", "rich", "accurate") or your own, see linear/templates.py.
    conjunctions: labels that link conjuncts.
    chain_min_count, triple_min_count: the grammar leaves out chains and triples seen less often (section 3.1), but
        keeps all chains up to length 2.
    known_min_count: words seen less often are represented by shape and suffix, see linear/words.py.
    common_min_count: words seen less often are also represented by shape and suffix, in addition to the word itself.
    table_bits: the table of hashed weights has 2**bits rows.
    beam_size: maximum number of hypotheses to keep after a word.
    gamma: the filter of equation 3, in averaged weights; higher values keep more hypotheses; None: only beam_size.
    outcome_filter_min_count: contexts seen at least this often in training allow only outcomes seen there; 0: off.
    outcome_filter_min_share: such contexts also exclude outcomes with a smaller share.
    train_beam_size: beam_size in training.
    train_gamma: gamma in training, in raw weights.
    train_outcome_filter_min_count: outcome_filter_min_count in training.
    update: where to compare a wrong analysis with the gold tree: "early" (where the gold tree leaves the beam),
        "max_violation" (where its score is lowest in comparison) or "full" (at the end).
    margin: the lead (in weights) that a gold parse needs, or else the weights are updated.
    step_decay: c; the n-th change of a weight has the size 1 / sqrt(1 + c * n). If this and margin are 0, learning is
        that of the paper's perceptron.
    n_tags: number of the tagger's tags that the search tries for a word (1: only the best).
    tag_margin: maximum gap (in the tagger's weights) between the best tag and these.
    n_models: number of models to train, each with its own order of sentences; the parser uses their mean.
    gold_tag_interval: use gold tags instead of the tagger's every n-th time that a training sentence is seen (0:
        never). Gold tags teach syntax, a tagger's tags teach how reliable tags are.
    clusters: word clusters for tagger and parser: a language code or a file, see linear/clusters.py; None: no
        clusters. Training reads them and stores them in the model. Named feature sets add features of the clusters.
    cluster_words: number of the most frequent words that have clusters.
    generative_weight: in a hybrid, the weight of the generative model's natural log probability (section 5).
    train_generative_weight: generative_weight in training, where weights are larger than their averages; 0: the
        parser is a plain perceptron, not a hybrid.
    generative_folds: number of generative models, each trained without one part, that score the training sentences;
        below 2: a single one trained on all.
    cache_size: number of sentences whose hypotheses are used again (figure 4); 0: off.
    cache_candidates: number of hypotheses to keep for each of them.
    cache_interval: number of sentences between two sweeps over the cache.
    cache_t1: number of rounds in a sweep.
    cache_t2: maximum number of times that a sentence may change the weights.
    """

    SEARCH = (
        "beam_size", "gamma", "outcome_filter_min_count", "outcome_filter_min_share", "generative_weight",
        *CHOICE_SETTINGS,
    )  # fmt: skip

    features: str | dict[str, Sequence[str]] = "rich"
    conjunctions: Sequence[str] = CONJUNCTIONS
    chain_min_count: int = 1
    triple_min_count: int = 1
    known_min_count: int = 2
    common_min_count: int = 5
    table_bits: int = 22
    beam_size: int = 100
    gamma: float | None = 3e5
    outcome_filter_min_count: int = 10
    outcome_filter_min_share: float = 0.0
    train_beam_size: int = 64
    train_gamma: float | None = 1e6
    train_outcome_filter_min_count: int = 30
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
        super().__post_init__()
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
                f"generative_weight is {self.generative_weight!r}, but only hybrids use it, whose "
                f"train_generative_weight is above 0"
            )

    @property
    def outcome_filter(self) -> tuple[int, float]:
        """The least count of a context that limits its outcomes, and the least share of an outcome."""
        return self.outcome_filter_min_count, self.outcome_filter_min_share

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
        """True if the parser contains a generative model."""
        return self.train_generative_weight > 0

    @property
    def templates(self) -> tuple[Template, ...]:
        """The checked templates of the features. Raises ConfigError for unknown ones."""
        return resolve(self.features, clusters=self.clusters is not None)


def _check_features(features: Any) -> None:
    are_templates = isinstance(features, Mapping) and all(map(is_list_of_strings, features.values()))
    if not (isinstance(features, str) or are_templates):
        raise ConfigError(f"features is {features!r}: it must be a named set, or lists of templates by their kinds")
    resolve(features)


_MAY_BE_NONE = ("gamma", "train_gamma")
_MAY_BE_FRACTIONS = (
    "gamma", "train_gamma", "outcome_filter_min_share", "margin", "step_decay", "tag_margin", "generative_weight",
    "train_generative_weight",
)  # fmt: skip
_MOST_FRACTION = 1e300
_MOST_WEIGHT = 10_000  # of a log probability: scores have to fit into 32 bits in the compiled code
_MOST = {  # if it differs from the usual bound
    "table_bits": 28, "outcome_filter_min_share": 1, "margin": MOST, "tag_margin": MOST,
    "generative_weight": _MOST_WEIGHT, "train_generative_weight": _MOST_WEIGHT,
}  # fmt: skip
_LEAST = {
    "chain_min_count": 1, "triple_min_count": 1, "known_min_count": 1, "common_min_count": 1, "table_bits": 8,
    "beam_size": 1, "gamma": 0, "outcome_filter_min_count": 0, "outcome_filter_min_share": 0,
    "train_beam_size": 1, "train_gamma": 0,
    "train_outcome_filter_min_count": 0, "margin": 0, "step_decay": 0, "n_tags": 1, "tag_margin": 0, "n_models": 1,
    "gold_tag_interval": 0, "cluster_words": 1, "generative_weight": 0, "train_generative_weight": 0,
    "generative_folds": 0,
    "cache_size": 0, "cache_candidates": 1, "cache_interval": 1, "cache_t1": 1, "cache_t2": 1,
}  # fmt: skip
