"""Choosing a tree by marginals: highest expected F, or highest product of rule probabilities; phrases' probabilities.

Both choices are Viterbi over other scores. The most probable derivation need not have the most phrases right: many
other derivations may share phrases that it does not have.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spacy_incparse.chart.forests.edge_labels import EdgeLabels
from spacy_incparse.chart.forests.forest import Forest
from spacy_incparse.trees.arrays import Phrase

TAG_GAIN = 1e-3  # of a tag that is right, where a bracket's is 1
TINY = 1e-300  # the lowest probability whose logarithm is used


def expected_f_scores(
    forest: Forest, marginals: np.ndarray, labels: EdgeLabels, threshold: float = 0.45, ignored: tuple[int, ...] = ()
) -> np.ndarray:
    """Return the scores of edges under which the best tree has the highest expected gain (Goodman 1996).

    The gain of a tree is the sum of the probabilities of its brackets minus the threshold for each: a bracket is worth
    having if it is more probable than that. 0.5 minimizes the expected number of wrong and missing brackets, a lower
    threshold gives more brackets. ignored: the labels, such as the root's, that do not count. A word's tag makes no
    bracket: among trees with the same gain, those with more probable tags are better.
    """
    gains = labels.expected(forest, marginals) - threshold
    gains[:, list(ignored)] = 0
    is_lexical = forest.child_array()[:, 0] < 0
    return labels.edge_scores(forest, gains) + TAG_GAIN * is_lexical * marginals


def phrase_probabilities(
    forest: Forest, marginals: np.ndarray, labels: EdgeLabels, names: Sequence[str], least: float = 1e-6
) -> dict[Phrase, float]:
    """Return the probability of each phrase that has at least some probability.

    names: the labels of the grammar. A label that a tree may have twice over the same words counts once, at most.
    """
    table, spans = labels.expected(forest, marginals), labels.spans(forest)
    return {
        (names[label], int(spans[row, 0]), int(spans[row, 1])): min(float(table[row, label]), 1.0)
        for row, label in zip(*(table >= least).nonzero(), strict=True)
    }


def max_rule_scores(marginals: np.ndarray) -> np.ndarray:
    """Return the scores of edges under which the best tree has the highest product of the edges' probabilities.

    This is MAX-RULE-PRODUCT of Petrov & Klein (2007, section 3).
    """
    return np.log(np.maximum(marginals, TINY))
