"""Binary branching, and back: between a phrase and its third, fourth, ... child stand nodes that name their children.

Labels of the nodes put in are those of Chomsky normal form as treebank tools write it: `NP|<JJ-NN>` is the part of an
NP that holds JJ and NN. With `horizontal=h` a label names h of the children only, the nearest to the one split off, so
that rules are shared (horizontal markovisation, Klein & Manning 2003, section 2).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from spacy_incparse.trees import walks
from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.arrays_builder import ArraysBuilder
from spacy_incparse.trees.edits import compress_nodes

MARKER = "|"
DIRECTIONS = ("right", "left")

_Node = tuple[int, int, str]  # first node, one behind the last, label


def binarize(
    arrays: TreeArrays, direction: str = "right", *, marker: str = MARKER, horizontal: int | None = None
) -> TreeArrays:
    """Return a tree in which no node has more than two children.

    direction: "right": the first child is split off, the rest is right-branching; "left": the last one is.
    marker: stands between a phrase's label and the children's in the labels of the nodes put in.
    horizontal: how many children such a label names at most; None: all.

    Raises ValueError where a label of the tree looks like those put in, so that `unbinarize` would take it out.
    """
    _check(arrays, direction, marker)
    nodes: list[_Node] = []  # in pre-order
    waiting: dict[int, list[_Node]] = {}  # first node -> nodes put in above it, the outermost first
    for i, (label, size) in enumerate(zip(arrays.labels, arrays.sizes, strict=True)):
        nodes += waiting.pop(i, ())
        nodes.append((i, i + size, label))
        for node in _put_in(arrays, i, direction, marker, horizontal):
            waiting.setdefault(node[0], []).append(node)
    return _build(nodes, arrays.words)


def unbinarize(arrays: TreeArrays, *, marker: str = MARKER) -> TreeArrays:
    """Return the tree that `binarize` was given, with this marker."""
    labels, sizes = arrays.labels, arrays.sizes
    is_put_in = _put_in_pattern(marker)
    kept = [size == 1 or not is_put_in.search(label) for label, size in zip(labels, sizes, strict=True)]
    kept[0] = True
    return TreeArrays.of(*compress_nodes(labels, sizes, kept), arrays.words)


def _put_in(arrays: TreeArrays, node: int, direction: str, marker: str, horizontal: int | None) -> Iterator[_Node]:
    """Yield the nodes that go between a node and its children, those above others first."""
    children = list(walks.children(arrays, node))
    n, label = len(children), arrays.labels[node]
    for n_split_off in range(1, n - 1):
        group = children[n_split_off:] if direction == "right" else children[: n - n_split_off]
        if horizontal is None:
            named = group
        else:
            named = group[:horizontal] if direction == "right" else group[max(len(group) - horizontal, 0) :]
        names = "-".join(arrays.labels[child] for child in named)
        yield group[0], group[-1] + arrays.sizes[group[-1]], f"{label}{marker}<{names}>"


def _build(nodes: Sequence[_Node], words: Sequence[str]) -> TreeArrays:
    builder, following = ArraysBuilder(), iter(words)
    behind: list[int] = []  # of the open phrases
    for first, last, label in nodes:
        while behind and behind[-1] <= first:
            behind.pop()
            builder.close()
        if last == first + 1:
            builder.leaf(label, next(following))
        else:
            builder.open(label)
            behind.append(last)
    for _ in behind:
        builder.close()
    return builder.arrays()


def _put_in_pattern(marker: str) -> re.Pattern[str]:
    return re.compile(rf"{re.escape(marker)}<.*>\Z", re.DOTALL)


def _check(arrays: TreeArrays, direction: str, marker: str) -> None:
    if direction not in DIRECTIONS:
        raise ValueError(f"direction is {direction!r}; expected one of {', '.join(DIRECTIONS)}")
    if not marker:
        raise ValueError("the marker is empty")
    is_put_in = _put_in_pattern(marker)
    for label, size in zip(arrays.labels, arrays.sizes, strict=True):
        if size > 1 and is_put_in.search(label):
            raise ValueError(f"the label {label!r} looks like one that {marker!r} marks: choose another marker")
