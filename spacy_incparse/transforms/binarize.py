"""Binarization and its inverse: a phrase with more than two children gets added nodes whose labels name their children.

The added nodes have the labels that treebank tools use for Chomsky normal form: `NP|<JJ-NN>` is the part of an NP that
contains JJ and NN. With `horizontal=h` a label names only the h children nearest to the one split off, so that rules
are shared (horizontal markovization, Klein & Manning 2003, section 2).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from spacy_incparse.trees import arrays as walks
from spacy_incparse.trees.arrays import ArraysBuilder, TreeArrays, compress_nodes

MARKER = "|"
DIRECTIONS = ("right", "left")

Node = tuple[int, int, str]  # first node, one after the last, label


def binarize(
    arrays: TreeArrays, direction: str = "right", *, marker: str = MARKER, horizontal: int | None = None
) -> TreeArrays:
    """Return a tree in which no node has more than two children.

    direction: "right" splits off the first child and branches to the right; "left" splits off the last child.
    marker: separates the phrase's label from its children's in the labels of added nodes.
    horizontal: the most children that such a label names; None: all.

    Raises ValueError if a label of the tree looks like an added one, since `unbinarize` would remove it.
    """
    if direction not in DIRECTIONS:
        raise ValueError(f"direction is {direction!r}; expected one of {', '.join(DIRECTIONS)}")
    if not marker:
        raise ValueError("the marker is empty")
    is_put_in = _put_in_pattern(marker)
    for label, size in zip(arrays.labels, arrays.sizes, strict=True):
        if size > 1 and is_put_in.search(label):
            raise ValueError(f"the label {label!r} looks like one that {marker!r} marks: choose another marker")

    def between(node: int, children: Sequence[int]) -> Iterator[Node]:
        for n_split_off in range(1, len(children) - 1):
            group = children[n_split_off:] if direction == "right" else children[: len(children) - n_split_off]
            n_named = len(group) if horizontal is None else min(horizontal, len(group))
            named = group[:n_named] if direction == "right" else group[len(group) - n_named :]
            names = "-".join(arrays.labels[child] for child in named)
            yield group[0], group[-1] + arrays.sizes[group[-1]], f"{arrays.labels[node]}{marker}<{names}>"

    return with_added(arrays, between)


def unbinarize(arrays: TreeArrays, *, marker: str = MARKER) -> TreeArrays:
    """Return the tree as it was before `binarize` with the same marker."""
    labels, sizes = arrays.labels, arrays.sizes
    is_put_in = _put_in_pattern(marker)
    kept = [size == 1 or not is_put_in.search(label) for label, size in zip(labels, sizes, strict=True)]
    kept[0] = True
    return TreeArrays.of(*compress_nodes(labels, sizes, kept), arrays.words)


def with_added(arrays: TreeArrays, between: Callable[[int, Sequence[int]], Iterable[Node]]) -> TreeArrays:
    """Return a tree with added nodes: `between` gives those between a phrase and its children, from the top down."""
    builder, words = ArraysBuilder(), iter(arrays.words)
    waiting: dict[int, list[Node]] = {}  # first node -> nodes added above it, the outermost first
    behind: list[int] = []  # of the open phrases
    for i, (label, size) in enumerate(zip(arrays.labels, arrays.sizes, strict=True)):
        while behind and behind[-1] <= i:
            behind.pop()
            builder.close()
        for _, last, added in waiting.pop(i, ()):
            builder.open(added)
            behind.append(last)
        if size == 1:
            builder.leaf(label, next(words))
            continue
        builder.open(label)
        behind.append(i + size)
        if size > 3:  # it may have three children
            for node in between(i, list(walks.children(arrays, i))):
                waiting.setdefault(node[0], []).append(node)
    for _ in behind:
        builder.close()
    return builder.arrays()


def _put_in_pattern(marker: str) -> re.Pattern[str]:
    return re.compile(rf"{re.escape(marker)}<.*>\Z", re.DOTALL)
