"""Edits of one place in a tree; each returns a new tree as arrays, and the node under which it differs."""

from __future__ import annotations

from typing import NamedTuple

from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.labels import bare_label


class Edit(NamedTuple):
    """A changed tree, and the index of the lowest node with all that was changed: the same before and after."""

    arrays: TreeArrays
    node: int


class EditError(ValueError):
    """An edit that is impossible at its place."""


def relabel(arrays: TreeArrays, node: int, label: str) -> Edit:
    """Change the category of a node; its function tags and indices stay, so that NP-SBJ becomes WHNP-SBJ."""
    old = arrays.labels[node]
    labels = list(arrays.labels)
    labels[node] = label + old[len(bare_label(old)) :]
    return Edit(TreeArrays.of(labels, arrays.sizes, arrays.words), node)


def insert(arrays: TreeArrays, first: int, last: int, label: str) -> Edit:
    """Put a new phrase over a node, or over it and its sisters up to `last`.

    Raises EditError if these are no sisters, and at the root.
    """
    parents = arrays.parents
    if parents[first] != parents[last] or last < first or first == 0:
        raise EditError("a phrase can only be inserted over a node, or over one and a later sister")
    end = last + arrays.sizes[last]
    labels = (*arrays.labels[:first], label, *arrays.labels[first:])
    sizes = _grown(arrays, parents[first], 1)
    sizes.insert(first, end - first + 1)
    return Edit(TreeArrays.of(labels, sizes, arrays.words), parents[first])


def excise(arrays: TreeArrays, node: int) -> Edit:
    """Remove a phrase; its children take its place. Raises EditError at the root and at POS nodes."""
    if node == 0 or arrays.sizes[node] == 1:
        raise EditError("only a phrase below the root can be excised")
    parent = arrays.parents[node]
    sizes = _grown(arrays, parent, -1)
    del sizes[node]
    return Edit(TreeArrays.of((*arrays.labels[:node], *arrays.labels[node + 1 :]), sizes, arrays.words), parent)


def raise_node(arrays: TreeArrays, node: int) -> Edit:
    """Make the first or last child of a phrase the sister before or after it.

    Raises EditError for any other node, for an only child and below the root.
    """
    parent = arrays.parents[node]
    end, parent_end = node + arrays.sizes[node], parent + arrays.sizes[parent]
    is_first, is_last = node == parent + 1, end == parent_end
    if parent <= 0 or is_first == is_last:
        raise EditError("only the first or last of several children can be raised, and not above the root")
    labels, sizes = list(arrays.labels), list(arrays.sizes)
    sizes[parent] -= end - node
    if is_first:  # the parent moves behind its first child
        labels.insert(end - 1, labels.pop(parent))
        sizes.insert(end - 1, sizes.pop(parent))
    return Edit(TreeArrays.of(labels, sizes, arrays.words), arrays.parents[parent])


def _grown(arrays: TreeArrays, node: int, n_nodes: int) -> list[int]:
    """Return the sizes after a node and all above it have grown."""
    sizes = list(arrays.sizes)
    while node >= 0:
        sizes[node] += n_nodes
        node = arrays.parents[node]
    return sizes
