"""Training a linear model with a large margin: MIRA (Crammer et al. 2006; McDonald et al. 2005).

It minimizes what the factored dual does (factored_dual.py), one sentence at a time, without a variable for every edge
of a treebank.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass

import numpy as np

from spacy_incparse.chart.crf import BracketLoss, LinearChartModel
from spacy_incparse.chart.features import EdgeFeatures
from spacy_incparse.chart.recurrences import viterbi
from spacy_incparse.chart.sentence import ChartExample
from spacy_incparse.errors import ModelError
from spacy_incparse.files import unzip


@dataclass(frozen=True)
class MarginSettings:
    """How the weights follow violated margins.

    c: the largest step. scale: the factor by which the model's scores are larger than those of training. The best tree
    does not depend on it, but probabilities do, and they decide the tree of the best expected F.
    """

    c: float = 0.01
    scale: float = 3.0


class MarginLearner:
    """A linear model in training: its weights are the averages over all sentences so far.

    loss: of trees; by default, over unbinarized phrases, missing ones included.
    """

    def __init__(
        self,
        features: EdgeFeatures,
        n_examples: int = 0,
        settings: MarginSettings | None = None,
        loss: BracketLoss | None = None,
    ):
        self.features, self.settings = features, settings or MarginSettings()
        self.loss = loss or BracketLoss.unbinarized(features.grammar)
        self.n_seen = 0
        self.weights = np.zeros(features.n_weights, np.float32)
        self._sums = np.zeros(features.n_weights, np.float32)  # of change * n_seen, so that averages need no pass

    def learn(self, example: ChartExample) -> int:
        """Learn from an example; return the number of updates: 1, or 0 if every tree is as far off as its loss asks.

        The update is the smallest one after which the gold tree's score is higher than that of the tree which violates
        this most, by at least its loss; but no step is larger than c.
        """
        bound = self.features.bind(example.sentence, example.forest)
        scores = bound.scores(self.weights)
        losses, constant = self.loss.of_edges(example.forest, example.gold)
        best_score, best = viterbi(example.forest, scores + losses)
        violation = best_score + constant - float(scores[example.gold].sum())
        self.n_seen += 1
        if violation <= 0:
            return 0
        difference = np.zeros(example.forest.n_edges)
        difference[example.gold] += 1.0
        difference[best] -= 1.0
        features, change = bound.feature_vector(difference)
        norm = float((change**2).sum())
        if norm == 0:
            return 0
        step = min(self.settings.c, violation / norm) * change
        self.weights[features] += step
        self._sums[features] += step * (self.n_seen - 1)
        return 1

    def finish_batch(self) -> int:
        """Return 0, the number of updates: nothing waits for the end of a pass."""
        return 0

    def model(self) -> LinearChartModel:
        """Return the model learned so far."""
        averages = self.weights - self._sums / np.float32(max(self.n_seen, 1))
        return LinearChartModel.rounded(self.features, averages * np.float32(self.settings.scale))

    def state_to_bytes(self) -> bytes:
        """Return everything that training changes."""
        arrays = zlib.compress(self.weights.tobytes() + self._sums.tobytes(), 1)
        return struct.pack("<q", self.n_seen) + arrays

    def state_from_bytes(self, data: bytes) -> None:
        """Restore what `state_to_bytes` returned. Raises ModelError for anything else."""
        n_bytes = self.weights.nbytes
        state = unzip(data[8:], "the training state is", 2 * n_bytes)
        if len(state) != 2 * n_bytes:
            raise ModelError("the training state belongs to another configuration: start the training anew")
        (self.n_seen,) = struct.unpack("<q", data[:8])
        self.weights = np.frombuffer(state[:n_bytes], np.float32).copy()
        self._sums = np.frombuffer(state[n_bytes:], np.float32).copy()
