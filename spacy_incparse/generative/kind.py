"""The kinds of parsers "perceptron", with or without a generative model in its scores, and "generative"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from spacy_incparse.errors import ConfigError
from spacy_incparse.incremental.config import TAG_MARGIN, ParserConfig
from spacy_incparse.linear.words import MAX_WORDS
from spacy_incparse.parsing.nbest import CHOICE_SETTINGS, ChoiceSettings
from spacy_incparse.parsing.parse import Tags
from spacy_incparse.parsing.parser import (
    FineTuner,
    FinishedLearner,
    Learner,
    Parser,
    ParserKind,
    TagRequest,
    TrainingNeeds,
)
from spacy_incparse.settings import MOST, check_number, check_range
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from spacy_incparse.linear.words import Clusters


# With the paper's few features, scores are closer together, so a wider beam and more passes pay off. Its perceptron has
# no margin, and all its steps have the same size.
_PAPER: dict[str, Any] = {
    "training": {"margin": 0.0, "step_decay": 0.0},
    "search": {"gamma": 1e6, "outcome_filter_min_share": 0.0},
    "max_epochs": 12,
}
_ACCURATE: dict[str, Any] = {
    "training": {"features": "accurate", "n_models": 2, "n_tags": 3, "train_generative_weight": 5.0},
    "search": {"generative_weight": 24.0, "outcome_filter_min_share": 0.002},
    "max_epochs": 6,
}
# Scores that include a log probability are further apart, and the best tree often scores far below others for a while.
_HYBRID: dict[str, Any] = {
    "training": _PAPER["training"] | {"features": "paper+punct", "train_generative_weight": 10.0},
    "search": _PAPER["search"] | {"generative_weight": 22.0, "gamma": 1e7, "beam_size": 400},
    "max_epochs": 6,
}


class PerceptronKind(ParserKind):
    """The incremental perceptron parser of Collins & Roark (2004).

    It is a hybrid if `train_generative_weight` is above 0: its scores contain the log probability of a generative model
    as one more feature (section 5).
    """

    name = "perceptron"
    part_name = "parser"
    config_type = ParserConfig
    recipes: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": _PAPER, "paper+punct": _PAPER, "rich": {}, "accurate": _ACCURATE, "hybrid": _HYBRID,
    }  # fmt: skip

    def check_search(self, settings: Mapping[str, Any]) -> None:
        """Raise ConfigError for settings that are not settings of its search, or have wrong values."""
        ParserConfig(train_generative_weight=1.0).with_search(**settings)

    def needs(self, config: ParserConfig) -> TrainingNeeds:
        """Return what training with a configuration needs."""
        request = TagRequest(config.n_tags, TAG_MARGIN)
        return TrainingNeeds(request, config.clusters, MAX_WORDS, config.gold_tag_interval)

    def learner(
        self, trees: Sequence[Tree], tags: Sequence[Tags], config: Any, heads: HeadRules, clusters: Clusters | None
    ) -> Learner:
        """Return a learner with the grammar, the lexicon and, for a hybrid, the generative models of the trees."""
        from spacy_incparse.incremental.learner import ParserLearner, treebank_model

        model = treebank_model(trees, tags, config, heads, clusters)
        if config.is_hybrid:
            from spacy_incparse.generative.hybrid import HybridModel

            model = HybridModel.train(model, trees)
        return ParserLearner(model, config)

    def fine_tuner(self, parser: Any) -> FineTuner:
        """Return a learner that continues from the averaged weights of a parser.

        Raises IncparseError for a hybrid: its generative model has counted its treebank, and shares its grammar.
        """
        from spacy_incparse.incremental.learner import ParserLearner

        if parser.config.is_hybrid:
            return super().fine_tuner(parser)
        return ParserLearner(parser.model, parser.config, parser.weights)

    def read(self, data: bytes, clusters: Clusters | None) -> Parser:
        """Return the parser that `to_bytes` wrote. Raises ModelError for anything else."""
        from spacy_incparse.generative.hybrid import read_model
        from spacy_incparse.incremental.parser import PerceptronParser

        return PerceptronParser.from_bytes(data, clusters, read_model)


@dataclass(frozen=True, kw_only=True)
class GenerativeConfig(ChoiceSettings):
    """Settings of a generative parser. The search settings can be changed after training; the others belong to the
    model.

    context_min_count: contexts seen less often are dropped to make the model smaller.
    beam_size: maximum number of hypotheses to keep after a word; 0: all.
    gamma: the filter of Roark (2001): a hypothesis is kept if p(h) > p(best) gamma |H|^3, where H are the better ones;
        0 or None: off.
    measures_beam_size: beam_size for measures, which are sums over the beam.
    word_list: a file with a word, a tab and its count on each line, which measures of unknown words go by. It is not
        stored with the model.
    choose, choose_from, choose_trees, choose_temperature, choose_threshold: as in the other parsers.
    """

    SEARCH = ("beam_size", "gamma", "measures_beam_size", "word_list", *CHOICE_SETTINGS)

    context_min_count: int = 1
    beam_size: int = 100
    gamma: float | None = 1e-10
    measures_beam_size: int = 2000
    word_list: str | None = None
    choose: str = "expected_f"
    choose_from: str | None = "search"
    choose_temperature: float | None = 3.0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, least in (("context_min_count", 1), ("beam_size", 0), ("measures_beam_size", 0)):
            check_number(name, getattr(self, name), least, MOST)
        check_range("gamma", self.gamma, 0.0, 1.0, may_be_none=True)
        if self.word_list is not None and not isinstance(self.word_list, str):
            raise ConfigError(f"word_list is {self.word_list!r}: it must be the path of a file, or None")

    def measures_filter(self, beam_size: int | None = None, gamma: float | None = None) -> tuple[int, float]:
        """Return beam_size and gamma for measures.

        The default gamma is 10**-16.5 for 2,000 hypotheses, and such for other numbers that the last hypothesis of a
        full beam has to meet the same condition. A beam_size of 0 keeps everything and has no gamma. Raises ConfigError
        for a beam_size below 0, and for a gamma that is not a number from 0 to 1.
        """
        beam_size = self.measures_beam_size if beam_size is None else beam_size
        check_number("beam_size", beam_size, 0, MOST)
        if gamma is not None:
            check_range("gamma", gamma, 0.0, 1.0)
            return beam_size, gamma
        return beam_size, min(10**-16.5 * (2000 / beam_size) ** 3, 0.1) if beam_size else 0.0


class GenerativeKind(ParserKind):
    """The generative parser of Roark (2001): probabilities of trees and words."""

    name = "generative"
    part_name = "generative"
    config_type = GenerativeConfig
    recipes: ClassVar[Mapping[str, Mapping[str, Any]]] = {"generative": {"max_epochs": 1}}
    has_measures = True
    trains_in_one_pass = True

    def learner(
        self, trees: Sequence[Tree], tags: Sequence[Tags], config: Any, heads: HeadRules, clusters: Clusters | None
    ) -> Learner:
        """Return a learner that has counted everything already."""
        from spacy_incparse.generative.parser import GenerativeParser

        return FinishedLearner(GenerativeParser.train(trees, config, heads))

    def read(self, data: bytes, clusters: Clusters | None) -> Parser:
        """Return the parser that `to_bytes` wrote. Raises ModelError for anything else."""
        from spacy_incparse.generative.parser import GenerativeParser

        return GenerativeParser.from_bytes(data)


PERCEPTRON, GENERATIVE = PerceptronKind(), GenerativeKind()
