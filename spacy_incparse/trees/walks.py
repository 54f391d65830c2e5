"""Tree traversal on arrays: functions take and return node indices, in linear time and without recursion."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from spacy_incparse.errors import IncparseError
from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.labels import bare_label

NESTED = ("all", "outermost", "innermost")


class Production(NamedTuple):
    """A grammar rule used in a tree: a label with the labels of its children, or a tag with its word."""

    left: str
    right: tuple[str, ...]
    is_lexical: bool = False  # whether `right` is a word

    def __str__(self) -> str:
        return f"{self.left} -> {repr(self.right[0]) if self.is_lexical else ' '.join(self.right)}"


def children(arrays: TreeArrays, index: int) -> Iterator[int]:
    """Yield the children of a node from left to right."""
    child, behind = index + 1, index + arrays.sizes[index]
    while child < behind:
        yield child
        child += arrays.sizes[child]


def postorder(arrays: TreeArrays, index: int) -> Iterator[int]:
    """Yield the nodes of a subtree, children before their parent, left to right."""
    path: list[int] = []
    for node in range(index, index + arrays.sizes[index]):
        path.append(node)
        while path and path[-1] + arrays.sizes[path[-1]] == node + 1:
            yield path.pop()


def labelled(arrays: TreeArrays, nodes: Sequence[int], label: str | Collection[str] | None) -> Sequence[int]:
    """Return the nodes that have the label, or one of several, as their whole label or category."""
    if label is None:
        return nodes
    wanted = {label} if isinstance(label, str) else frozenset(label)
    labels = arrays.labels
    return [node for node in nodes if labels[node] in wanted or bare_label(labels[node]) in wanted]


def without_nested(arrays: TreeArrays, nodes: Sequence[int], nested: str) -> Sequence[int]:
    """Return the nodes, given in pre-order, that are in no other ("outermost") or contain no other ("innermost")."""
    if nested == "all":
        return nodes
    if nested == "innermost":
        following = [*nodes[1:], len(arrays.sizes)]
        return [node for node, after in zip(nodes, following, strict=False) if after >= node + arrays.sizes[node]]
    if nested != "outermost":
        raise IncparseError(f"nested is {nested!r}; expected one of {', '.join(NESTED)}")
    kept, behind = [], 0
    for node in nodes:
        if node >= behind:
            kept.append(node)
            behind = node + arrays.sizes[node]
    return kept


def lowest_common(arrays: TreeArrays, a: int, b: int) -> int:
    """Return the lowest node that covers both nodes; it may be one of them."""
    node, last = min(a, b), max(a, b)
    while last >= node + arrays.sizes[node]:
        node = arrays.parents[node]
    return node


def path(arrays: TreeArrays, a: int, b: int) -> list[int]:
    """Return the nodes from one node up to the lowest common one and down to the other, both included."""
    top = lowest_common(arrays, a, b)
    down = _up_to(arrays, b, top)
    return [*_up_to(arrays, a, top), top, *reversed(down)]


def productions(arrays: TreeArrays, index: int) -> Iterator[Production]:
    """Yield the production of each node of a subtree in pre-order."""
    labels = arrays.labels
    for node in range(index, index + arrays.sizes[index]):
        if arrays.sizes[node] == 1:
            yield Production(labels[node], (arrays.words[arrays.starts[node]],), True)
        else:
            yield Production(labels[node], tuple(labels[child] for child in children(arrays, node)))


def _up_to(arrays: TreeArrays, node: int, top: int) -> list[int]:
    """Return a node and those above it, below `top`."""
    nodes = []
    while node != top:
        nodes.append(node)
        node = arrays.parents[node]
    return nodes
