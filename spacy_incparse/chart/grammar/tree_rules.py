"""A tree as rules of a grammar: one root rule, then binary, unary and lexical rules.

A unary chain is a single rule, and none is applied to the result of another over the same words (Finkel et al. 2008,
section 2). The root stands above every tree, so what it covers is a rule of its own kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from spacy_incparse.errors import IncparseError
from spacy_incparse.trees import walks
from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.labels import ROOT

TAG_MARK = "="  # begins the states of POS nodes: a phrase may have the same label


class Rule(NamedTuple):
    """A rule with states as labels of markovized trees, those of POS nodes after "=".

    right: two states for a binary rule, one for a unary one, none for a lexical one. chain: for a unary rule, the
    states between both. A root rule has the parent "".
    """

    parent: str
    right: tuple[str, ...]
    chain: tuple[str, ...] = ()

    def __str__(self) -> str:
        over = f" (over {' '.join(self.chain)})" if self.chain else ""
        return f"{self.parent or ROOT} -> {' '.join(self.right) or 'a word'}{over}"


class Step(NamedTuple):
    """A rule over the words from `start` to `end`; `split` is where a binary rule's second child begins, else `end`."""

    rule: Rule
    start: int
    split: int
    end: int


def tree_steps(arrays: TreeArrays) -> Iterator[Step]:
    """Yield the rules of a markovized tree in pre-order. Raises IncparseError unless its root is TOP."""
    if arrays.labels[0] != ROOT or len(arrays.sizes) == 1:
        raise IncparseError(f"the root of the tree is {arrays.labels[0]!r}, not {ROOT}: normalize the tree")
    n_words = len(arrays.words)
    top = 1 if arrays.sizes[1] + 1 == arrays.sizes[0] else 0
    yield Step(Rule("", (state(arrays, top),)), 0, n_words, n_words)
    node = top
    while node < len(arrays.sizes):
        start, end = arrays.starts[node], arrays.ends[node]
        lowest = node
        while arrays.sizes[lowest] > 1 and arrays.sizes[lowest + 1] + 1 == arrays.sizes[lowest]:
            lowest += 1
        if lowest > node:
            chain = tuple(state(arrays, k) for k in range(node + 1, lowest))
            yield Step(Rule(state(arrays, node), (state(arrays, lowest),), chain), start, end, end)
        if arrays.sizes[lowest] == 1:
            yield Step(Rule(state(arrays, lowest), ()), start, end, end)
        else:
            left, right = walks.children(arrays, lowest)
            yield Step(
                Rule(state(arrays, lowest), (state(arrays, left), state(arrays, right))),
                start,
                arrays.starts[right],
                end,
            )
        node = lowest + 1


def state(arrays: TreeArrays, node: int) -> str:
    """Return the state of a node of a markovized tree."""
    label = arrays.labels[node]
    return label if arrays.sizes[node] > 1 else TAG_MARK + label
