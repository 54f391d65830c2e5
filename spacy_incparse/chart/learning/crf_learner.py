"""Training a linear model as a conditional random field over trees (Finkel, Kleeman & Manning 2008)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spacy_incparse.chart.chart_sentence import ChartExample
from spacy_incparse.chart.features.bound_features import BoundFeatures
from spacy_incparse.chart.features.edge_features import EdgeFeatures
from spacy_incparse.chart.features.edge_weights import LearningWeights
from spacy_incparse.chart.learning.crf_objective import EdgeLoss, log_likelihood
from spacy_incparse.chart.learning.linear_model import LinearChartModel


@dataclass(frozen=True)
class CrfSettings:
    """How the weights follow the gradient.

    step: the size of the steps: of AdaGrad, or eta_0 of plain gradient ascent. damping: what AdaGrad adds to the sums
    of squared gradients, so that a weight's first steps are not the largest ones; 0: plain gradient ascent. l2: the
    strength of the prior l2 / 2 |w|^2 on the log likelihood of all examples. batch_size: the number of examples whose
    gradients are taken at the same weights. halved_after: the number of passes after which steps have half the size;
    0: they stay as they are.
    """

    step: float = 0.05
    damping: float = 1.0
    l2: float = 0.0
    batch_size: int = 1
    halved_after: float = 0


class CrfLearner:
    """A linear model in training.

    n_examples: the number of examples of a pass. loss: for softmax-margin, see `log_likelihood`.
    """

    def __init__(
        self, features: EdgeFeatures, n_examples: int, settings: CrfSettings | None = None, loss: EdgeLoss | None = None
    ):
        self.features, self.n_examples, self.loss = features, n_examples, loss
        self.settings = settings or CrfSettings()
        self.n_seen = 0
        self.weights = LearningWeights(
            features.n_weights,
            step=self.settings.step,
            l2=self.settings.l2 / n_examples,
            damping=self.settings.damping,
        )
        self._batch: list[tuple[BoundFeatures, np.ndarray]] = []

    def learn(self, example: ChartExample) -> int:
        """Learn from an example; return the number of updates: 1 at the end of a batch, else 0."""
        bound = self.features.bind(example.sentence, example.forest)
        loss = None if self.loss is None else self.loss(example)
        _, derivatives = log_likelihood(bound.scores(self.weights.values), example, loss)
        self._batch.append((bound, derivatives))
        self.n_seen += 1
        return self.finish_batch() if len(self._batch) == self.settings.batch_size else 0

    def model(self) -> LinearChartModel:
        """Return the model learned so far."""
        return LinearChartModel.rounded(self.features, self.weights.settled())

    def state_to_bytes(self) -> bytes:
        """Return everything that training changes. What is left of an unfinished batch is learned before."""
        self.finish_batch()
        return self.n_seen.to_bytes(8, "little") + self.weights.state_to_bytes()

    def state_from_bytes(self, data: bytes) -> None:
        """Restore what `state_to_bytes` returned. Raises ModelError for anything else."""
        self.weights.load_state(data[8:])
        self.n_seen = int.from_bytes(data[:8], "little")
        self._batch = []

    def finish_batch(self) -> int:
        """Change the weights at the end of a pass, even if the batch is not full; return the number of updates."""
        if not self._batch:
            return 0
        self.weights.step = self._step()
        for bound, derivatives in self._batch:
            self.weights.tick()
            bound.update(self.weights, derivatives)
        self._batch = []
        return 1

    def _step(self) -> float:
        """Return the gain eta_0 tau / (tau + k) after k examples, tau so that it is halved after the given passes."""
        tau = self.settings.halved_after * self.n_examples
        return self.settings.step * tau / (tau + self.n_seen) if tau else self.settings.step
