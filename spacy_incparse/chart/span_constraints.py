"""Constraints on the trees that span scores choose: as a bonus for labels, larger than any sum of scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spacy_incparse.chart.chain_labels import Bracket, Chain
from spacy_incparse.parsers.constraints import Constraint
from spacy_incparse.trees.labels import ROOT

BONUS = 1e7  # in float64, which leaves nine digits for the scores


def constrained_scores(scores: np.ndarray, chains: Sequence[Chain], constraints: Sequence[Constraint]) -> np.ndarray:
    """Return span scores under which the best tree satisfies as many constraints as possible: float64.

    scores: (n_spans, n_labels), which are not changed. chains: the labels.
    """
    found = scores.astype(np.float64)
    for start, end, label, is_required in constraints:
        meant = [label is None or label in chain for chain in chains]
        found[end * (end - 1) // 2 + start, meant] += BONUS if is_required else -BONUS
    return found


def unmet_constraints(
    brackets: Sequence[Bracket], constraints: Sequence[Constraint], n_words: int
) -> tuple[Constraint, ...]:
    """Return the constraints that a tree does not satisfy. The root is always there, and satisfies required phrases."""
    chains = {(start, end): chain for start, end, chain in brackets}
    return tuple(one for one in constraints if _is_met(one, chains.get(one[:2], ()), n_words) != one.is_required)


def _is_met(constraint: Constraint, chain: Chain, n_words: int) -> bool:
    """Return whether there is such a phrase."""
    may_be_root = constraint.label == ROOT or (constraint.label is None and constraint.is_required)
    if may_be_root and constraint[:2] == (0, n_words):
        return True
    return bool(chain) if constraint.label is None else constraint.label in chain
