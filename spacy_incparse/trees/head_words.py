"""Lexical heads of whole trees: the head word of each phrase."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from spacy_incparse.errors import IncparseError
from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.walks import children


def head_children(arrays: TreeArrays, rules: HeadRules) -> Iterator[int]:
    """Yield the index of the head child of each phrase with more than one child, in pre-order."""
    for node, size in enumerate(arrays.sizes):
        labels = [arrays.labels[child] for child in children(arrays, node)] if size > 1 else ()
        if len(labels) > 1:
            yield rules.head_index(arrays.labels[node], labels)


def head_words(arrays: TreeArrays, heads: Iterable[int]) -> tuple[int, ...]:
    """Return the lexical head of each node, given the values that `head_children` yields, in linear time.

    Raises IncparseError if the heads are those of another tree.
    """
    given = iter(heads)
    head_child = [-1] * len(arrays.sizes)  # the node itself for a POS node
    for node, size in enumerate(arrays.sizes):
        if size == 1:
            head_child[node] = node
            continue
        nodes = list(children(arrays, node))
        number = next(given, -1) if len(nodes) > 1 else 0
        if not 0 <= number < len(nodes):
            raise IncparseError("these heads belong to another tree")
        head_child[node] = nodes[number]
    words = list(arrays.starts)
    for node in range(len(words) - 1, -1, -1):  # children come after their parents
        words[node] = words[head_child[node]]
    return tuple(words)
