"""What of a tree is drawn: its nodes in pre-order, some phrases folded to triangles over their words."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from spacy_incparse.trees.tree import Tree
from spacy_incparse.viz.measure import visible

_GIST = 24  # characters of a folded phrase that are shown; more are cut from its middle


@dataclass(slots=True)
class SketchNode:
    """A node as it is drawn; one of size 1 stands over text: a POS node over its word, a folded phrase over several."""

    label: str
    size: int  # nodes of the sketch from here down
    text: str = ""
    index: int = -1  # number of the node in its tree
    folded: bool = False


Sketch = list[SketchNode]


def sketch(tree: Tree, folded: Collection[int] = ()) -> Sketch:
    """Return the nodes of a tree that are to be seen where the nodes of the given numbers are folded."""
    arrays = tree.arrays
    nodes: Sketch = []
    for i in _unfolded(tree, folded):
        label, words = visible(arrays.labels[i]), arrays.words[arrays.starts[i] : arrays.ends[i]]
        if arrays.sizes[i] == 1:
            nodes.append(SketchNode(label, 1, visible(words[0]), i))
        elif i in folded:
            nodes.append(SketchNode(label, 1, gist(" ".join(words)), i, True))
        else:
            nodes.append(SketchNode(label, 0, "", i))
    _set_sizes(nodes, arrays.sizes)
    return nodes


def folded_phrases(
    tree: Tree, *, labels: Collection[str] = (), depth: int | None = None, length: int | None = None
) -> frozenset[int]:
    """Return the outermost phrases to fold: those with one of the labels, those `depth` levels below `tree`, and those
    of at most `length` words.

    A label is given whole, or without its function: "NP" folds "NP-SBJ", too. `tree` itself is folded by label only.
    """
    found, wanted = set(), frozenset(labels)
    for node, level in _levels(tree):
        below = node.index > tree.index
        is_short = length is not None and node.end - node.start <= length
        if {node.label, node.category} & wanted or (below and (is_short or level == depth)):
            found.add(node.index)
    return frozenset(found)


def gist(text: str) -> str:
    """Return text that is short enough to stand under a folded phrase: its beginning and its end."""
    if len(text) <= _GIST:
        return visible(text)
    head, tail = text[: _GIST // 2].rstrip(), text[-_GIST // 2 + 1 :].lstrip()
    return f"{visible(head)}…{visible(tail)}"


def _levels(tree: Tree) -> Iterator[tuple[Any, int]]:
    """Yield the phrases, each with its distance from `tree`."""
    path: list[int] = []  # the ends of the open phrases
    for node in tree.preorder():
        while path and path[-1] <= node.index:
            path.pop()
        if not node.is_preterminal:
            yield node, len(path)
        path.append(node.index + node.size)


def _unfolded(tree: Tree, folded: Collection[int]) -> Iterator[int]:
    i, behind = tree.index, tree.index + tree.size
    while i < behind:
        yield i
        i += tree.arrays.sizes[i] if i in folded else 1


def _set_sizes(nodes: Sketch, sizes: tuple[int, ...]) -> None:
    """Count the nodes that are left below each."""
    path: list[tuple[int, int]] = []  # open nodes: (position in the sketch, index behind the subtree in the tree)
    for position, node in enumerate(nodes):
        while path and path[-1][1] <= node.index:
            opened = path.pop()[0]
            nodes[opened].size = position - opened
        if node.size != 1:
            path.append((position, node.index + sizes[node.index]))
    for opened, _ in path:
        nodes[opened].size = len(nodes) - opened
