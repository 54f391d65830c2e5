"""What learns the scores of edges: one object for each value of the setting `learner`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from spacy_incparse.chart.chart_config import ChartConfig
from spacy_incparse.chart.chart_sentence import ChartExample, EdgeModel
from spacy_incparse.chart.features.edge_features import EdgeFeatures
from spacy_incparse.chart.grammar.grammar import Grammar
from spacy_incparse.chart.grammar.pcfg import Pcfg
from spacy_incparse.chart.learning.bracket_loss import BracketLoss
from spacy_incparse.chart.learning.crf_learner import CrfLearner, CrfSettings
from spacy_incparse.chart.learning.edge_models import PcfgEdges
from spacy_incparse.chart.learning.margin_learner import MarginLearner, MarginSettings
from spacy_incparse.lexicon.words import Lexicon
from spacy_incparse.trees.arrays import TreeArrays


class EdgeLearner(Protocol):
    """A model of edges in training."""

    learns: bool
    """Whether it learns from examples."""
    temperature: float | None
    """The temperature at which its scores are log probabilities; None if only held-out sentences tell."""

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

    learns = False
    temperature: float | None = 1.0

    def __init__(self, pcfg: Pcfg):
        self._model = PcfgEdges(pcfg)

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

    learns = True

    def __init__(self, learner: CrfLearner | MarginLearner, temperature: float | None):
        self.temperature = temperature
        self.learn, self.finish_batch, self.model = learner.learn, learner.finish_batch, learner.model
        self.state_to_bytes, self.state_from_bytes = learner.state_to_bytes, learner.state_from_bytes


def make_edge_learner(
    config: ChartConfig, grammar: Grammar, lexicon: Lexicon, arrays: Sequence[TreeArrays]
) -> EdgeLearner:
    """Return the learner that a configuration names. arrays: the markovized training trees."""
    if config.learner == "pcfg":
        return CountedEdges(Pcfg.estimate(arrays, grammar, None if config.n_tags == 1 else lexicon))
    features = EdgeFeatures(grammar, config.templates, lexicon, table_bits=config.table_bits)
    if config.learner == "crf":
        settings = CrfSettings(config.step, config.damping, config.l2, config.batch_size, config.step_halved_after)
        return LearnedEdges(CrfLearner(features, len(arrays), settings), 1.0)
    loss = BracketLoss.unbinarized if config.loss == "phrases" else BracketLoss.binarized
    margin = MarginSettings(config.margin_step, config.score_scale)
    return LearnedEdges(MarginLearner(features, len(arrays), margin, loss(grammar)), None)
