"""How far trees are from one another: the edit distance of two, and what two groups of them have in common."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from math import exp, inf, log, log1p

import numpy as np

from spacy_incparse.errors import IncparseError
from spacy_incparse.measuring.edit_distance import edit_distance
from spacy_incparse.settings import check_range
from spacy_incparse.trees.arrays import TreeArrays, children, postorder
from spacy_incparse.trees.tree import Tree


def tree_distance(first: Tree, second: Tree) -> int:
    """Return the tree edit distance (Zhang & Shasha 1989).

    This is the number of phrases and POS nodes to insert, remove or relabel to turn one tree into the other; words are
    no nodes. Time grows with the product of the sizes and the depths. Raises IncparseError unless both are trees.
    """
    numbers: dict[str, int] = {}
    sides = []
    for arrays in map(_arrays, (first, second)):
        order = list(postorder(arrays, 0))
        places = {node: k for k, node in enumerate(order)}
        leftmost = [places[arrays.leaves[arrays.starts[node]]] for node in order]
        sides.append(([numbers.setdefault(arrays.labels[node], len(numbers)) for node in order], leftmost))
    return edit_distance(*sides)


def tree_similarity(first: Tree | Iterable[Tree], second: Tree | Iterable[Tree], *, decay: float = 0.4) -> float:
    """Return how similar two trees, or two groups of trees, are: 0 to 1, where 1 means the same.

    This is the kernel of Collins & Duffy (2002), which counts the common subtrees, without words, divided by the root
    of the product of its values for each tree with itself; for groups, the mean over all pairs, divided likewise.

    decay: how much larger subtrees count, their lambda: 0.000001 to 1. Raises ConfigError for other values, and
    IncparseError for what is no tree, or if a group has none.
    """
    check_range("decay", decay, 1e-6, 1)
    kernel = _Kernel(log(decay))
    groups = (one if isinstance(one, Iterable) and not isinstance(one, Tree) else [one] for one in (first, second))
    one, other = map(kernel.group, groups)
    return min(exp(kernel.value(one, other) - (kernel.value(one, one) + kernel.value(other, other)) / 2), 1.0)


def _arrays(tree: object) -> TreeArrays:
    if not isinstance(tree, Tree):
        raise IncparseError(f"{tree!r:.60} is no tree: pass one, such as those of doc._.trees")
    return tree.own_arrays


class _Kernel:
    """Subtrees by number, equal ones by one number; their weights and all values are logarithms."""

    def __init__(self, log_decay: float):
        self._log_decay, self._numbers = log_decay, dict[tuple[str, tuple[int, ...]], int]()
        self._nodes: list[tuple[tuple[str, ...], tuple[int, ...]]] = []  # rule, and the numbers of the children

    def group(self, trees: Iterable[Tree]) -> Mapping[int, float]:
        """Return the weights of the subtrees of several trees, each of which counts the same, whatever its size."""
        found: defaultdict[int, float] = defaultdict(lambda: -inf)
        for arrays in map(_arrays, trees):
            own = {number: log(n) for number, n in Counter(self._numbered(arrays)).items()}
            norm = self.value(own, own) / 2
            for number, weight in own.items():
                found[number] = np.logaddexp(found[number], weight - norm)
        if not found:
            raise IncparseError("there is no tree to compare: a group needs one at least")
        return found

    def value(self, one: Mapping[int, float], other: Mapping[int, float]) -> float:
        """Return the kernel: the sum over all pairs of nodes with equal rules, children before parents."""
        by_rule, common = defaultdict[tuple[str, ...], list[int]](list), dict[tuple[int, int], float]()
        for b in other:
            by_rule[self._nodes[b][0]].append(b)
        for a in sorted(one):
            rule, below = self._nodes[a]
            for b in by_rule[rule]:
                inside = (common[pair] for pair in zip(below, self._nodes[b][1], strict=True) if pair in common)
                common[a, b] = self._log_decay + sum(value if value > 40 else log1p(exp(value)) for value in inside)
        return float(np.logaddexp.reduce([one[a] + other[b] + value for (a, b), value in common.items()] or [-inf]))

    def _numbered(self, arrays: TreeArrays) -> list[int]:
        """Return the number of the subtree under each node; those of children are smaller."""
        numbers = [0] * len(arrays.sizes)
        for node in range(len(numbers) - 1, -1, -1):
            below = list(children(arrays, node))
            inside = tuple(numbers[child] for child in below)
            numbers[node] = self._numbers.setdefault((arrays.labels[node], inside), len(self._numbers))
            if numbers[node] == len(self._nodes):
                self._nodes.append(((arrays.labels[node], *(arrays.labels[child] for child in below)), inside))
        return numbers
