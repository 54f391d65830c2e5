"""The factored dual of max-margin parsing, solved two trees at a time (Taskar et al. 2004, sections 4 and 5).

A sentence i has a distribution over its trees, kept as the marginals mu of its forest's edges: how much of it is on
trees with an edge. The weights are what gold trees have more of than these distributions,

    w = C sum_i (Phi_i,gold - sum_r mu_i,r phi_r)                                       (section 2.3)

and the dual objective, to be maximized, is a quadratic function of the marginals,

    Q(mu) = C sum_i,r mu_i,r l_i,r - |w|^2 / 2                                          (section 4)

in which l is the loss of an edge, with scores that are not learned added. The tree with the highest score plus loss
deserves more of the distribution. The update moves some of it there from the tree with the lowest one that has any: by
the amount that is best for Q, or until an edge has none left. This is sequential minimal optimization (Platt 1999;
Taskar et al. 2003) on marginals. Nothing else of the distribution has to be known, because the marginals' constraints
are those of a forest's inside-outside probabilities; see Garber & Meshi (2016) for why it converges.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from spacy_incparse.chart.forest import Forest
from spacy_incparse.chart.recurrences import viterbi
from spacy_incparse.chart.sparse_features import SparseFeatures

NEGLIGIBLE = 1e-12  # marginals below this are rounding errors
NOTHING = 1e-9  # gains up to this end the visit of a sentence


@dataclass
class DualExample:
    """A sentence with its marginals, which begin as the gold tree's.

    losses: of edges, with fixed scores added. constant: what to add to the sum of a tree's losses; its value for the
    gold tree should be 0.
    """

    forest: Forest
    gold: np.ndarray
    features: SparseFeatures
    losses: np.ndarray
    constant: float = 0.0
    marginals: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.marginals = np.zeros(self.forest.n_edges)
        self.marginals[self.gold] = 1.0


@dataclass(frozen=True)
class DualityGap:
    """The primal and the dual objective: at the solution they are equal."""

    primal: float
    dual: float

    @property
    def relative(self) -> float:
        """The gap as a share of the primal objective."""
        return (self.primal - self.dual) / max(abs(self.primal), 1e-12)


class FactoredDual:
    """Trains weights on the whole forests of sentences.

    c: the cost of a unit of slack, C in the paper. n_updates: the most updates each time that a sentence is visited.
    pairwise: whether the best tree gets from the worst one alone; if not, it gets the same share of all trees, which is
    block-coordinate Frank-Wolfe (Lacoste-Julien et al. 2013).
    """

    def __init__(
        self,
        examples: Sequence[DualExample],
        n_features: int,
        c: float,
        *,
        n_updates: int = 10,
        pairwise: bool = True,
    ):
        self.examples, self.c, self.n_updates, self.pairwise = list(examples), c, n_updates, pairwise
        self.weights = np.zeros(n_features)

    def add(self, example: DualExample, n_features: int) -> None:
        """Add a sentence, and make room for features that it may be the first to have."""
        self.examples.append(example)
        if n_features > len(self.weights):
            self.weights = np.concatenate([self.weights, np.zeros(n_features - len(self.weights))])

    def passes(self, tolerance: float = 1e-3, max_passes: int = 100) -> Iterator[DualityGap]:
        """Visit all sentences again and again, and yield the gap after each pass, until it is below the tolerance."""
        for _ in range(max_passes):
            for example in self.examples:
                self.visit(example)
            gap = self.gap()
            yield gap
            if gap.relative < tolerance:
                return

    def visit(self, example: DualExample) -> int:
        """Update a sentence's marginals, and the weights with them, as long as something can be gained.

        Return the number of updates.
        """
        for done in range(self.n_updates):
            if not self._update(example):
                return done
        return self.n_updates

    def gap(self) -> DualityGap:
        """Return the objectives of the present weights and marginals."""
        half_norm = float((self.weights**2).sum()) / 2
        primal, dual = half_norm, -half_norm
        for example in self.examples:
            fixed = example.losses
            learned = example.features.scores(self.weights)
            best, _ = viterbi(example.forest, fixed + learned)
            primal += self.c * (best + example.constant - float(learned[example.gold].sum()))
            dual += self.c * (float((example.marginals * fixed).sum()) + example.constant)
        return DualityGap(primal, dual)

    def _update(self, example: DualExample) -> bool:
        """Move some of the distribution to the best tree; return whether there was something to gain."""
        scores = example.losses + example.features.scores(self.weights)
        _, best = viterbi(example.forest, scores)
        source = _worst_tree(example, scores) if self.pairwise else example.marginals
        if source is None:
            return False
        taken = source.copy()
        taken[best] -= 1.0
        edges = taken.nonzero()[0]
        limit = float(example.marginals[taken > 0].min(initial=1.0)) if self.pairwise else 1.0
        gain = -float((taken[edges] * scores[edges]).sum())
        if gain <= NOTHING:
            return False
        features, change = example.features.totals(edges, taken[edges])
        # Q changes by c gain step - c^2 |change|^2 step^2 / 2.
        curvature = self.c * float((change**2).sum())
        step = min(gain / curvature, limit) if curvature else limit
        example.marginals[edges] -= step * taken[edges]
        example.marginals[example.marginals < NEGLIGIBLE] = 0.0
        self.weights[features] += self.c * step * change
        return True


def _worst_tree(example: DualExample, scores: np.ndarray) -> np.ndarray | None:
    """Return the edges of the tree with the lowest score among those of the distribution: 1, others 0."""
    score, worst = viterbi(example.forest, np.where(example.marginals > 0, -scores, -np.inf))
    if score == -np.inf:  # rounding errors have left no tree
        return None
    found = np.zeros(len(scores))
    found[worst] = 1.0
    return found
