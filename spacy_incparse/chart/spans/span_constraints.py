"""Constraints on the trees that span scores choose: as a bonus for labels, larger than any sum of scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spacy_incparse.chart.forests.span_numbers import span_number
from spacy_incparse.chart.spans.chain_labels import Chain
from spacy_incparse.parsers.constraints import Constraint

BONUS = 1e7  # in float64, which leaves nine digits for the scores


def constrained_scores(scores: np.ndarray, chains: Sequence[Chain], constraints: Sequence[Constraint]) -> np.ndarray:
    """Return span scores under which the best tree satisfies as many constraints as possible: float64.

    scores: (n_spans, n_labels), which are not changed. chains: the labels.
    """
    found = scores.astype(np.float64)
    for start, end, label, is_required in constraints:
        meant = [label is None or label in chain for chain in chains]
        found[span_number(start, end), meant] += BONUS if is_required else -BONUS
    return found
