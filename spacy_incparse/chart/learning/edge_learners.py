"""What learns the scores of edges: one object for each value of the setting `learner`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from spacy_incparse.chart.chart_config import ChartConfig
from spacy_incparse.chart.chart_sentence import ChartExample, EdgeModel
from spacy_incparse.chart.features.edge_features import EdgeFeatures
from spacy_incparse.chart.features.edge_templates import TASKAR_AUX, TASKAR_RULES
from spacy_incparse.chart.features.lexical_spans import LexicalSpans
from spacy_incparse.chart.grammar.grammar import Grammar
from spacy_incparse.chart.grammar.pcfg import Pcfg
from spacy_incparse.chart.learning.bracket_loss import BracketLoss
from spacy_incparse.chart.learning.crf_learner import CrfLearner, CrfSettings
from spacy_incparse.chart.learning.crf_objective import EdgeLoss
from spacy_incparse.chart.learning.dual_learner import DualLearner, DualSettings
from spacy_incparse.chart.learning.edge_models import PcfgEdges
from spacy_incparse.chart.learning.margin_learner import MarginLearner, MarginSettings
from spacy_incparse.chart.learning.span_predictions import JackknifedPredictors, MakeLexicon
from spacy_incparse.parsers.protocol import Convergence
from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.tree import Tree


class EdgeLearner(Protocol):
    """A model of edges in training."""

    learns: bool
    """Whether it learns from examples."""
    needs_all: bool
    """Whether all sentences are added before it learns from one; equal ones count once then."""
    temperature: float | None
    """The temperature at which its scores are log probabilities; None if only held-out sentences tell."""

    @property
    def convergence(self) -> Convergence | None:
        """How far training is from its end; None if it has none."""

    def add(self, example: ChartExample) -> None:
        """Take note of a sentence before it is learned from."""

    def learn(self, example: ChartExample) -> int:
        """Learn from a sentence; return the number of updates."""

    def finish_batch(self) -> int:
        """Learn from what waits for others at the end of a pass; return the number of updates."""

    def model(self) -> EdgeModel:
        """Return the model learned so far."""

    def state_to_bytes(self) -> bytes:
        """Return everything that training changes."""

    def state_from_bytes(self, data: bytes) -> None:
        """Restore what `state_to_bytes` returned. Raises ModelError for anything else."""


class CountedEdges:
    """Relative frequencies, which are counted at once: passes over the sentences change nothing."""

    learns = needs_all = False
    temperature: float | None = 1.0

    convergence: Convergence | None = None

    def __init__(self, pcfg: Pcfg):
        self._model = PcfgEdges(pcfg)

    def add(self, example: ChartExample) -> None:
        """Do nothing."""

    def learn(self, example: ChartExample) -> int:
        """Return 0, the number of updates."""
        return 0

    def finish_batch(self) -> int:
        """Return 0, the number of updates."""
        return 0

    def model(self) -> EdgeModel:
        """Return the model."""
        return self._model

    def state_to_bytes(self) -> bytes:
        """Return no bytes: training changes nothing."""
        return b""

    def state_from_bytes(self, data: bytes) -> None:
        """Do nothing."""


class LearnedEdges:
    """The weights of features in training."""

    learns, needs_all = True, False
    convergence: Convergence | None = None

    def __init__(self, learner: CrfLearner | MarginLearner, temperature: float | None):
        self.temperature = temperature
        self.learn, self.finish_batch, self.model = learner.learn, learner.finish_batch, learner.model
        self.state_to_bytes, self.state_from_bytes = learner.state_to_bytes, learner.state_from_bytes

    def add(self, example: ChartExample) -> None:
        """Do nothing: a sentence is learned from by itself."""


def make_edge_learner(
    config: ChartConfig,
    grammar: Grammar,
    make_lexicon: MakeLexicon,
    trees: Sequence[Tree],
    arrays: Sequence[TreeArrays],
) -> EdgeLearner:
    """Return the learner that a configuration names. arrays: the markovized training trees."""
    lexicon = make_lexicon(trees)
    if config.learner == "pcfg":
        return CountedEdges(Pcfg.estimate(arrays, grammar, None if config.n_tags == 1 else lexicon))
    if config.learner == "dual":
        pcfg = Pcfg.estimate(arrays, grammar, lexicon)
        has_predictions = config.features == TASKAR_AUX
        predictors = JackknifedPredictors(pcfg, trees, arrays, make_lexicon) if has_predictions else None
        return _dual(config, pcfg, predictors)
    features = EdgeFeatures(grammar, config.templates, lexicon, table_bits=config.table_bits)
    if config.learner == "crf":
        settings = CrfSettings(config.step, config.damping, config.l2, config.batch_size, config.step_halved_after)
        return LearnedEdges(CrfLearner(features, len(arrays), settings, _softmax_margin(config, grammar)), 1.0)
    margin = MarginSettings(config.margin_step, config.score_scale)
    return LearnedEdges(MarginLearner(features, len(arrays), margin, _margin_loss(config, grammar)), None)


def _margin_loss(config: ChartConfig, grammar: Grammar) -> BracketLoss:
    return BracketLoss.unbinarized(grammar) if config.loss == "phrases" else BracketLoss.binarized(grammar)


def _softmax_margin(config: ChartConfig, grammar: Grammar) -> EdgeLoss | None:
    each = config.softmax_margin
    return BracketLoss.unbinarized(grammar, wrong=each, missing=each) if each else None


def _dual(config: ChartConfig, pcfg: Pcfg, predictors: JackknifedPredictors | None) -> DualLearner:
    """Return the learner of Taskar et al. (2004): BASIC, LEXICAL or LEXICAL+AUX."""
    reader = LexicalSpans(pcfg.grammar, with_words=config.features != TASKAR_RULES)
    settings = DualSettings(config.slack_cost, config.gap_tolerance)
    return DualLearner(reader, pcfg, _margin_loss(config, pcfg.grammar), settings, predictors)
