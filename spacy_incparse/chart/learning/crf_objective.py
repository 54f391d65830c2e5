"""The objective of a conditional random field over trees: the log likelihood of gold trees, and its derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from spacy_incparse.chart.chart_sentence import ChartExample
from spacy_incparse.chart.features.bound_features import BoundFeatures
from spacy_incparse.chart.forests.recurrences import inside, marginals

EdgeLoss = Callable[[ChartExample], np.ndarray]
"""From an example to what each edge loses against the gold tree: float64 (n_edges,), 0 for the gold edges."""


def log_likelihood(
    scores: np.ndarray, example: ChartExample, loss: np.ndarray | None = None
) -> tuple[float, np.ndarray]:
    """Return log P(gold tree | sentence), and its derivative by the score of each edge: gold minus expected.

    loss: per edge, added to the scores (softmax-margin, Gimpel & Smith 2010): a wrong tree counts the more, the worse
    it is.
    """
    if loss is not None:
        scores = scores + loss
    derivatives = -marginals(example.forest, scores)
    np.add.at(derivatives, example.gold, 1.0)
    return float(scores[example.gold].sum() - inside(example.forest, scores)[-1]), derivatives


class CrfObjective:
    """The negative log likelihood of examples plus the L2 prior l2 / 2 |w|^2, to be minimized.

    examples: each with the features of its forest.
    """

    def __init__(
        self, examples: Sequence[tuple[ChartExample, BoundFeatures]], l2: float = 0.0, loss: EdgeLoss | None = None
    ):
        self.examples, self.l2, self.loss = examples, l2, loss

    def __call__(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the value at the weights, float64 (n_weights,), and the gradient, of the same shape."""
        value, gradient = self.l2 / 2 * float((weights * weights).sum()), self.l2 * weights
        for example, bound in self.examples:
            loss = None if self.loss is None else self.loss(example)
            found, derivatives = log_likelihood(bound.scores(weights), example, loss)
            value -= found
            bound.add_gradient(gradient, derivatives, -1.0)
        return value, gradient
