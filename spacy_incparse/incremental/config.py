"""All settings of a parser, with defaults that suit most uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf

from spacy_incparse.errors import ConfigError
from spacy_incparse.linear.templates import Template, resolve
from spacy_incparse.parsing.nbest import CHOICE_SETTINGS, ChoiceSettings
from spacy_incparse.settings import MOST, check_choice, check_number, is_list_of_strings

# Labels that link conjuncts, those of several treebanks.
CONJUNCTIONS = ("CC", "CONJ", "CCONJ", "CONJP", "KON", "KOORD", "coord", "conj")
UPDATES = ("early", "max_violation", "full")
TAG_MARGIN = 40.0  # the largest gap (in the tagger's weights) between a word's best tag and the others that are tried


@dataclass(frozen=True, kw_only=True)
class ParserConfig(ChoiceSettings):
    """Settings of a parser. The search settings can be changed after training; the others belong to the model.

    features: a named set ("paper", "paper+punct", "rich", "accurate") or your own, see linear/templates.py.
    table_bits: the table of hashed weights has 2**table_bits rows.
    beam_size: maximum number of hypotheses to keep after a word.
    gamma: the filter of equation 3, in averaged weights; higher values keep more hypotheses; None: only beam_size.
    outcome_filter_min_count: contexts seen at least this often in training allow only outcomes seen there; 0: off.
    outcome_filter_min_share: such contexts also exclude outcomes with a smaller share.
    train_beam_size: beam_size in training.
    train_gamma: gamma in training, in raw weights.
    update: where to compare a wrong analysis with the gold tree: "early" (where the gold tree leaves the beam),
        "max_violation" (where its score is lowest in comparison) or "full" (at the end).
    margin: the lead (in weights) that a gold parse needs, or else the weights are updated.
    step_decay: c; the n-th change of a weight has the size 1 / sqrt(1 + c * n). With 0, and margin 0, learning is that
        of the paper.
    n_tags: number of the tagger's tags that the search tries for a word (1: only the best).
    n_models: number of models to train, each with its own order of sentences; the parser uses their mean.
    gold_tag_interval: use gold tags instead of the tagger's every n-th time that a training sentence is seen (0:
        never). Gold tags teach syntax, a tagger's tags teach how reliable tags are.
    clusters: word clusters for tagger and parsers: a language code or a file; None: none. The model stores what it
        needs. Named feature sets add features of them.
    generative_weight: in a hybrid, the weight of the generative model's natural log probability (section 5).
    train_generative_weight: generative_weight in training, where weights are larger than their averages; 0: no hybrid.
    """

    SEARCH = (
        "beam_size", "gamma", "outcome_filter_min_count", "outcome_filter_min_share", "generative_weight",
        *CHOICE_SETTINGS,
    )  # fmt: skip

    features: str | dict[str, Sequence[str]] = "rich"
    table_bits: int = 22
    beam_size: int = 100
    gamma: float | None = 3e5
    outcome_filter_min_count: int = 10
    outcome_filter_min_share: float = 0.0
    train_beam_size: int = 64
    train_gamma: float | None = 1e6
    update: str = "early"
    margin: float = 100.0
    step_decay: float = 0.1
    n_tags: int = 1
    n_models: int = 1
    gold_tag_interval: int = 2
    clusters: str | None = None
    generative_weight: float = 0.0
    train_generative_weight: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        given = self.features
        are_templates = isinstance(given, Mapping) and all(map(is_list_of_strings, given.values()))
        if not (isinstance(given, str) or are_templates):
            raise ConfigError(f"features is {given!r}: it must be a named set, or lists of templates by their kinds")
        resolve(given)
        check_choice("update", self.update, UPDATES)
        for name, (least, most) in _WHOLE.items():
            check_number(name, getattr(self, name), least, most)
        for name in ("gamma", "train_gamma"):
            if getattr(self, name) == inf:  # which no config file can hold
                raise ConfigError(f"{name} is inf: it must be a finite number, or None (in files null) for no filter")
        for name, largest in _FRACTIONS.items():
            value = getattr(self, name)
            if not (value is None and name.endswith("gamma")):
                check_number(name, value, 0, largest, is_whole=False)
        if not (self.clusters is None or isinstance(self.clusters, str)):
            raise ConfigError(f"clusters is {self.clusters!r}: it must be a language's code or the path of a file")
        if self.generative_weight and not self.is_hybrid:
            raise ConfigError(
                f"generative_weight is {self.generative_weight!r}, but only hybrids use it, whose "
                f"train_generative_weight is above 0"
            )

    @property
    def outcome_filter(self) -> tuple[int, float]:
        """The least count of a context that limits its outcomes, and the least share of an outcome."""
        return self.outcome_filter_min_count, self.outcome_filter_min_share

    @property
    def is_hybrid(self) -> bool:
        """True if the parser contains a generative model."""
        return self.train_generative_weight > 0

    @property
    def templates(self) -> tuple[Template, ...]:
        """The checked templates of the features. Raises ConfigError for unknown ones."""
        return resolve(self.features, clusters=self.clusters is not None)


_WHOLE = {  # the least and the highest value
    "table_bits": (8, 28), "beam_size": (1, MOST), "outcome_filter_min_count": (0, MOST), "train_beam_size": (1, MOST),
    "n_tags": (1, MOST), "n_models": (1, MOST), "gold_tag_interval": (0, MOST),
}  # fmt: skip
_FRACTIONS = {  # the highest value; 10,000 of a log probability, since scores have to fit into 32 bits
    "gamma": 1e300, "train_gamma": 1e300, "outcome_filter_min_share": 1, "margin": MOST, "step_decay": 1e300,
    "generative_weight": 10_000, "train_generative_weight": 10_000,
}  # fmt: skip
