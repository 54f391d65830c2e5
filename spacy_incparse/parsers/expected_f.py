"""Choose the tree with the highest expected F (Goodman 1996).

The most probable tree is the one most likely to be right as a whole. Usually the aim is to get as many phrases right as
possible, and then another tree can be better: one whose phrases many less probable trees share.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import exp

from spacy_incparse.parsers.parse import Parse
from spacy_incparse.trees.arrays import Phrase
from spacy_incparse.trees.tree import Tree


def max_expected_f(parses: Sequence[Parse], temperature: float) -> Parse:
    """Return the tree with the highest expected F against all trees.

    Expected F of t = 2 sum over t's phrases of P(phrase) / (phrases of t + expected phrases of a tree), where a tree's
    probability is proportional to exp(score / temperature). A temperature above that of the probabilities takes into
    account that models are overconfident in their best tree. Ties go to the first tree.
    """
    top = max(parse.score for parse in parses)
    weights = [exp((parse.score - top) / temperature) for parse in parses]
    values = expected_f_values([parse.tree for parse in parses], weights)
    return parses[values.index(max(values))]


def expected_f_values(trees: Sequence[Tree], weights: Sequence[float]) -> list[float]:
    """Return the expected F of each tree, if the probabilities of the trees are proportional to these weights."""
    rows = _phrase_numbers(trees)
    posterior = [0.0] * (1 + max((number for row in rows for number in row), default=-1))
    for weight, row in zip(weights, rows, strict=True):
        for number in row:
            posterior[number] += weight
    total = sum(weights)
    n_expected = sum(posterior) / total
    # Summed in sorted order, so that trees whose phrases are equally probable are tied.
    sums = (sum(sorted([posterior[number] for number in row])) for row in rows)
    return [2 * common / total / (len(row) + n_expected) for common, row in zip(sums, rows, strict=True)]


def _phrase_numbers(trees: Iterable[Tree]) -> list[set[int]]:
    """Return the set of each tree's phrases, numbered in the order in which they first appear."""
    numbers: dict[Phrase, int] = {}
    return [{numbers.setdefault(phrase, len(numbers)) for phrase in tree.spans()} for tree in trees]
