"""The drawn nodes of a tree in pre-order, some folded to triangles over their words; their layout, and parts of it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from spacy_incparse.trees.arrays import children_by_size
from spacy_incparse.trees.tree import Tree
from spacy_incparse.viz.blocks import columns, visible

_LINE = 20  # columns of a line under a triangle
_MAX_LINES = 4


@dataclass(slots=True)
class SketchNode:
    """A drawn node; one of size 1 has text below it: a POS node its word, a triangle a few lines."""

    label: str
    size: int  # nodes of the sketch from here down
    lines: tuple[str, ...] = ()
    index: int = -1  # number of the node in its tree
    folded: bool = False
    sign: str = ""  # before the label of a highlighted node
    part: int = 0  # in a tree cut into parts: the number of the part that begins or continues here


Sketch = list[SketchNode]


def sketch(tree: Tree, folded: Collection[int] = ()) -> Sketch:
    """Return the nodes of a tree that are visible if the nodes with the given numbers are folded."""
    arrays = tree.arrays
    shown, i = [], tree.index
    while i < tree.index + tree.size:
        shown.append(i)
        i += arrays.sizes[i] if i in folded else 1
    nodes: Sketch = []
    for position, i in enumerate(shown):
        size, start, lines = arrays.sizes[i], arrays.starts[i], tuple[str, ...]()
        if size == 1:
            lines = (visible(arrays.words[start]),)
        elif i in folded:
            lines = text_lines(arrays.words[start : arrays.ends[i]])
        n_shown = bisect_left(shown, i + size) - position
        nodes.append(SketchNode(visible(arrays.labels[i]), n_shown, lines, i, folded=size > 1 and i in folded))
    return nodes


def folded_phrases(
    tree: Tree, *, labels: Collection[str] = (), depth: int | None = None, length: int | None = None
) -> frozenset[int]:
    """Return the outermost phrases to fold: those with one of the labels, those `depth` levels below `tree`, and those
    of two to `length` words.

    A label may be whole or without its function: "NP" also folds "NP-SBJ". `tree` itself is folded only by label.
    """
    found, wanted = set(), frozenset(labels)
    path: list[int] = []  # the ends of the open phrases
    for node in tree.preorder():
        while path and path[-1] <= node.index:
            path.pop()
        if not node.is_preterminal:
            is_short = length is not None and 1 < node.end - node.start <= length
            if {node.label, node.category} & wanted or (path and (is_short or len(path) == depth)):
                found.add(node.index)
            path.append(node.index + node.size)
    return frozenset(found)


def text_lines(words: Sequence[str], n_lines: int = _MAX_LINES) -> tuple[str, ...]:
    """Return words on a few lines; if they do not fit, the middle is left out."""
    lines = _broken(words)
    if len(lines) <= n_lines:
        return lines
    # Only the ends are needed: the tail is broken from the end, so that no line there has a single word.
    head, tail = lines[: n_lines // 2], _broken(words[::-1], backwards=True)[: n_lines - n_lines // 2]
    return (*head[:-1], f"{head[-1]} …", *reversed(tail))


def _broken(words: Sequence[str], backwards: bool = False) -> tuple[str, ...]:
    """Return lines filled with words; with `backwards` the words are reversed, and each line is reversed back."""
    lines: list[list[str]] = []
    room = -1  # so that an empty word also begins a line
    for word in map(visible, words):
        if columns(word) > room:
            lines.append([])
            room = _LINE
        lines[-1].append(word if len(word) <= 2 * _LINE else f"{word[:_LINE]}…")
        room -= columns(word) + 1
    return tuple(" ".join(line[::-1] if backwards else line) for line in lines)


# All arithmetic uses integers in the caller's unit (terminal columns, pixels) and takes linear time in the nodes.


@dataclass(frozen=True)
class Layout:
    """Position of each node, in pre-order."""

    centres: list[int]  # column or x where a node's label is centered and its edges end
    depths: list[int]  # 0 at the root
    parents: list[int]  # -1 at the root
    width: int


def lay_out(sizes: Sequence[int], widths: Sequence[int], gap: int) -> Layout:
    """Return the layout of nodes in pre-order, given the sizes of their subtrees and the widths of their labels.

    Each subtree gets a block wide enough for its label and its children's blocks, with `gap` to its right. A node is
    centered between its first and last child, unless its label would then leave its block.
    """
    n_nodes, children = len(sizes), [list(children_by_size(sizes, i)) for i in range(len(sizes))]
    blocks, inner = [0] * n_nodes, [0] * n_nodes  # the width of each block, and of its children's blocks together
    for i in reversed(range(n_nodes)):
        inner[i] = sum(blocks[child] for child in children[i])
        blocks[i] = max(widths[i] + gap, inner[i])
    lefts, depths, parents = [0] * n_nodes, [0] * n_nodes, [-1] * n_nodes
    for i in range(n_nodes):
        left = lefts[i] + (blocks[i] - inner[i]) // 2
        for child in children[i]:
            lefts[child], depths[child], parents[child] = left, depths[i] + 1, i
            left += blocks[child]
    centres = [0] * n_nodes
    for i in reversed(range(n_nodes)):
        half, rest = widths[i] // 2, blocks[i] - gap - widths[i]
        centres[i] = lefts[i] + rest // 2 + half
        if children[i]:
            middle = (centres[children[i][0]] + centres[children[i][-1]]) // 2
            centres[i] = min(max(middle, lefts[i] + half), lefts[i] + rest + half)
    return Layout(centres, depths, parents, blocks[0] - gap)


Width = Callable[[SketchNode], int]


def wrap(nodes: Sketch, tree: Tree, width: Width, gap: int, limit: int) -> list[Sketch]:
    """Return the parts of a sketch, none wider than about `limit`, in the order of the references to them.

    `width` returns the width of a node's label and text; `gap` is the space between two nodes. From the bottom up, the
    widest children of a node that is too wide are cut off until it fits. A phrase with too many small children
    continues in another part that repeats its label. Time is linear in the nodes, except for sorting children by width.
    """
    apart, breaks = _find_cuts(nodes, tree, width, gap, limit)
    parts: list[Sketch] = []
    waiting = [(0, 1)]  # (the part's root, the first node below it), for part 0, 1 ...
    for number, (root, first) in enumerate(waiting):
        chosen, starts = [replace(nodes[root], part=number)], [root]
        i, end = first, root + nodes[root].size
        while i < end:
            starts.append(i)
            if i != first and i in breaks:
                phrase = breaks[i]
                chosen.append(replace(nodes[phrase], size=1, label="…", folded=True, lines=(), part=len(waiting)))
                waiting.append((phrase, i))
                i = phrase + nodes[phrase].size
            elif i in apart:
                chosen.append(replace(apart[i], part=len(waiting)))
                waiting.append((i, i + 1))
                i += nodes[i].size
            else:
                chosen.append(replace(nodes[i]))
                i += 1
        for position, (node, start) in enumerate(zip(chosen, starts, strict=True)):
            if node.size > 1:
                node.size = bisect_left(starts, start + node.size) - position
        parts.append(chosen)
    return parts


def _find_cuts(
    nodes: Sketch, tree: Tree, width: Width, gap: int, limit: int
) -> tuple[dict[int, SketchNode], dict[int, int]]:
    """Return, by positions, phrases to draw apart -> the nodes in their place; children after which flat ones continue.

    The latter begin a new part of their phrase, which is the value.
    """
    apart: dict[int, SketchNode] = {}
    breaks: dict[int, int] = {}
    sizes, blocks, words = [node.size for node in nodes], [0] * len(nodes), tree.arrays.words
    for i in reversed(range(len(nodes))):
        children = list(children_by_size(sizes, i))
        excess = sum(blocks[child] for child in children) - limit
        for child in sorted(children, key=lambda child: -blocks[child]) if excess > 0 else ():
            if excess <= 0 or sizes[child] == 1:
                continue
            start, end = tree.arrays.starts[nodes[child].index], tree.arrays.ends[nodes[child].index]
            # A few words from each end are enough; using all would take quadratic time.
            few = words[start:end] if end - start <= 20 else (*words[start : start + 10], "…", *words[end - 10 : end])
            reference = replace(nodes[child], size=1, lines=text_lines(few, 2), folded=True, part=-1)
            saved = blocks[child] - width(reference) - gap
            if saved > 0:
                apart[child] = reference
                blocks[child] -= saved
                excess -= saved
        runs = [0]  # widths of runs of children, each in a part of its own; one run if all of them fit
        for child in children:
            if runs[-1] + blocks[child] > limit and child != children[0]:
                breaks[child] = i
                runs.append(0)
            runs[-1] += blocks[child]
        blocks[i] = max(width(nodes[i]) + gap, runs[0])
    return apart, breaks
