"""The moves of a tree's left-corner form, without that form: incremental/moves.pyx in plain Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from spacy_incparse.transforms.left_corner import slash_base
from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.builder import TreeBuilder


class Symbols(NamedTuple):
    """The numbers of labels: of phrases, and of the steps that extend them (NP/NP for NP)."""

    phrases: Mapping[str, int]
    steps: Mapping[str, int]

    @classmethod
    def of(cls, nonterminals: Iterable[str], first: int) -> Symbols:
        """Return the symbols of a grammar's nonterminals, numbered from `first`."""
        numbers = {label: number for number, label in enumerate(nonterminals, start=first)}
        steps = {base: number for label, number in numbers.items() if (base := slash_base(label)) is not None}
        return cls({label: number for label, number in numbers.items() if slash_base(label) is None}, steps)


def build_tree(moves, words, tags, root_label="TOP"):
    """The tree that one move a word builds: the inverse of `derivation`."""
    builder, n_open = TreeBuilder(), 1
    builder.open(root_label)
    for (n_closings, chain), word, tag in zip(moves, words, tags, strict=True):
        for _ in range(n_closings):
            builder.close()
        for label in chain:
            builder.open(label)
        builder.leaf(tag, word)
        n_open += len(chain) - n_closings
    for _ in range(n_open):
        builder.close()
    return builder.finish()


def left_corner_moves(arrays: TreeArrays, symbols: Symbols) -> tuple[list[int], list[list[int]]]:
    """Return for each word the number of closings and the symbols of its chain, from the highest to the lowest.

    arrays: of a whole tree. Raises KeyError for a label without a symbol.
    """
    labels, starts, ends, sizes = arrays.labels, arrays.starts, arrays.ends, arrays.sizes
    n_closings, chains = [], []
    chain: list[int] = []
    n_closed, open_ends = 0, [ends[0]]
    pending: list[tuple[int, str, int]] = []  # steps that are still to be opened: first word, label, end
    node = _innermost(arrays, 0, pending) + 1
    while node < len(sizes):
        start = starts[node]
        while open_ends[-1] <= start:
            open_ends.pop()
            n_closed += 1
        if pending and pending[-1][0] == start:
            _, label, end = pending.pop()
            chain.append(symbols.steps[label])
            open_ends.append(end)
        if sizes[node] == 1:
            n_closings.append(n_closed)
            chains.append(chain)
            chain, n_closed = [], 0
        else:
            chain.append(symbols.phrases[labels[node]])
            open_ends.append(ends[node])
            node = _innermost(arrays, node, pending)
        node += 1
    return n_closings, chains


def _innermost(arrays: TreeArrays, node: int, pending: list[tuple[int, str, int]]) -> int:
    """Return the innermost repetition of a phrase's label at its left corner; the steps around it become pending."""
    labels, ends, sizes = arrays.labels, arrays.ends, arrays.sizes
    label = labels[node]
    while labels[node + 1] == label and 1 < sizes[node + 1] < sizes[node] - 1:
        pending.append((ends[node + 1], label, ends[node]))
        node += 1
    return node
