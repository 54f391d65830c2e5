"""Exact probabilities of a sentence's trees and phrases, from parsers that sum over all trees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp

from spacy_incparse.trees.arrays import Phrase


@dataclass(frozen=True)
class Posterior:
    """The distribution of a sentence's trees at a temperature T: p(tree) = exp(score(tree) / T - log_total).

    log_total: the log of the sum of exp(score / T) over all trees; 0 if scores are log probabilities and T is 1.
    phrases: the probability of each phrase that has at least some.
    """

    temperature: float
    log_total: float
    phrases: Mapping[Phrase, float]

    def of_score(self, score: float) -> float:
        """Return the probability of a tree with this score."""
        return min(exp(score / self.temperature - self.log_total), 1.0)
