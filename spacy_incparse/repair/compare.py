"""Where two treebanks annotate differently, by weighted log odds with an informative Dirichlet prior.

Monroe, Colaresi & Quinn (2008), *Fightin' Words*, Political Analysis 16, pages 372-403.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from spacy_incparse.trees.arrays import JOINT, TreeArrays
from spacy_incparse.trees.tree import Tree

PRIOR = 10.0  # decisions that the prior counts for in each context
_CERTAIN = 1.96  # standard deviations around the estimate that hold 95 % of a normal distribution


@dataclass(frozen=True, order=True)
class Difference:
    """A decision that two treebanks make with different frequency, with its count in both.

    The totals are those of its context. `log_odds` is the difference of the natural logarithms of the odds, positive
    if the first treebank has more; `at_least` is how large it is at least, with a certainty of 95 %, and 0 if it may be
    chance.
    """

    kind: str
    context: str
    outcome: str
    count: int
    total: int
    other_count: int
    other_total: int
    log_odds: float
    at_least: float


class Decision(NamedTuple):
    """What annotators decide in a context, such as the children of an NP, or the parent of a WDT."""

    context: str
    outcome: str


def _words(arrays: TreeArrays) -> Iterator[tuple[str, str, str]]:
    """Yield for each word of a phrase itself, its tag, and the label of the phrase above."""
    for word, leaf in zip(arrays.words, arrays.leaves, strict=True):
        if leaf > 0:
            yield word, arrays.labels[leaf], arrays.labels[arrays.parents[leaf]]


def _productions(arrays: TreeArrays) -> Iterator[Decision]:
    """Yield for each phrase its label, and the labels of its children."""
    children: list[list[str]] = [[] for _ in arrays.sizes]
    for label, parent in zip(arrays.labels[1:], arrays.parents[1:], strict=True):
        children[parent].append(label)
    for label, below in zip(arrays.labels, children, strict=True):
        if below:
            yield Decision(label, " ".join(below))


def _unary_chains(arrays: TreeArrays) -> Iterator[Decision]:
    """Yield for each POS node or branching phrase its label, and the labels of the phrases that cover nothing else.

    The chain is written from the top, without the root, as `collapse_unaries` writes it.
    """
    above: list[str] = []
    for i in range(1, len(arrays.sizes)):
        label, size = arrays.labels[i], arrays.sizes[i]
        if size > 1 and arrays.sizes[i + 1] == size - 1:
            above.append(label)
        else:
            yield Decision(label, JOINT.join(above) or NO_CHAIN)
            above = []


KINDS: dict[str, Callable[[TreeArrays], Iterator[Decision]]] = {
    "production": _productions,
    "chain": _unary_chains,
    "tag": lambda arrays: (Decision(tag, above) for _, tag, above in _words(arrays)),
    "word": lambda arrays: (Decision(word.lower(), f"{tag} in {above}") for word, tag, above in _words(arrays)),
}
"""What is counted, by name."""


def annotation_differences(
    trees: Sequence[Tree],
    other_trees: Sequence[Tree],
    *,
    kinds: Sequence[str] = tuple(KINDS),
    min_total: int = 20,
    prior: float = PRIOR,
) -> list[Difference]:
    """Return the decisions in which two treebanks of normalized trees differ, the largest certain difference first.

    The odds of a decision are those in its context, such as NP -> PRP among all NPs: how frequent a context is says
    more about topic and genre than about annotation.

    min_total: leave out contexts that are rarer in either treebank.
    prior: the weight of the paper's informative prior, which expects the share of both treebanks together.
    """
    found: list[Difference] = []
    for kind in kinds:
        counts, other_counts = count_decisions(trees, kind), count_decisions(other_trees, kind)
        totals: dict[str, list[int]] = defaultdict(lambda: [0, 0])  # of each context, in both
        decisions = counts.keys() | other_counts.keys()
        for decision in decisions:
            totals[decision.context][0] += counts[decision]
            totals[decision.context][1] += other_counts[decision]
        for decision in decisions:
            context, outcome = decision
            ours, others = zip((counts[decision], other_counts[decision]), totals[context], strict=True)
            has_choice = ours[0] + others[0] < ours[1] + others[1]
            if has_choice and min(ours[1], others[1]) >= min_total and outcome != NO_CHAIN:
                log_odds, deviation = weighted_log_odds(*ours, *others, prior)
                at_least = max(abs(log_odds) - _CERTAIN * deviation, 0.0)
                found.append(Difference(kind, context, outcome, *ours, *others, log_odds, at_least))
    return sorted(found, key=lambda row: (-row.at_least, row))


def weighted_log_odds(count: int, total: int, other_count: int, other_total: int, prior: float) -> tuple[float, float]:
    """Return the difference of the log odds of `count` in `total` and of the other ones, and its standard deviation.

    Both totals grow by `prior`, and both counts by their common share of it. The variance also has the terms of all
    other outcomes, which the paper drops because each of its words is rare.
    """
    expected = prior * (count + other_count) / (total + other_total)
    yes, other_yes = count + expected, other_count + expected
    no, other_no = total + prior - yes, other_total + prior - other_yes
    log_odds = math.log(yes / no) - math.log(other_yes / other_no)
    return log_odds, math.sqrt(1 / yes + 1 / no + 1 / other_yes + 1 / other_no)


NO_CHAIN = "-"  # the chain above a node that is not an only child


def count_decisions(trees: Iterable[Tree], kind: str) -> Counter[Decision]:
    """Count the decisions of a kind, which is a key of `KINDS`, in normalized trees."""
    return Counter(chain.from_iterable(KINDS[kind](tree.own_arrays) for tree in trees))
