"""Choose the tree with the highest expected F (Goodman 1996).

The most probable tree is the one most likely to be right as a whole. Usually the aim is to get as many phrases right as
possible, and then another tree can be better: one whose phrases many less probable trees share.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import exp

from spacy_incparse.parsers.parse import Parse


def max_expected_f(parses: Sequence[Parse], temperature: float) -> Parse:
    """Return the tree with the highest expected F against all trees.

    Expected F of t = 2 sum over t's phrases of P(phrase) / (phrases of t + expected phrases of a tree), where a tree's
    probability is proportional to exp(score / temperature). The temperature is above 1 because models are overconfident
    in their best tree. Scores are natural log probabilities. Ties go to the first tree.
    """
    top = max(parse.score for parse in parses)
    weights = [exp((parse.score - top) / temperature) for parse in parses]
    phrases = [set(parse.tree.spans()) for parse in parses]
    posterior: dict[tuple[str, int, int], float] = defaultdict(float)
    for weight, here in zip(weights, phrases, strict=True):
        for phrase in here:
            posterior[phrase] += weight
    total = sum(weights)
    n_expected = sum(posterior.values()) / total

    def expected_f(here: set[tuple[str, int, int]]) -> float:
        # Summed in sorted order, because the order of a set differs between processes.
        return 2 * sum(sorted(posterior[phrase] for phrase in here)) / total / (len(here) + n_expected)

    scores = [expected_f(here) for here in phrases]
    return parses[scores.index(max(scores))]
