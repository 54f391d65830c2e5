"""Cutting a sketch that is too wide into parts: phrases drawn separately, with a number in their place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from spacy_incparse.trees.node import TreeNode
from spacy_incparse.viz.layout import child_indices
from spacy_incparse.viz.sketch import Sketch, SketchNode, set_sizes, text_lines

Width = Callable[[SketchNode], int]


@dataclass
class _Cuts:
    """The cuts of a sketch, by positions in it."""

    apart: dict[int, SketchNode] = field(default_factory=dict)  # phrases drawn separately -> the nodes in their place
    breaks: dict[int, int] = field(default_factory=dict)  # children that begin a new part of a flat phrase -> it


def wrap(nodes: Sketch, tree: TreeNode, width: Width, gap: int, limit: int) -> list[Sketch]:
    """Return the parts of a sketch, none wider than about `limit`, in the order of the references to them.

    `width` returns the width of a node's label and text; `gap` is the space between two nodes. From the bottom up, the
    widest children of a node that is too wide are cut off until it fits. A phrase with too many small children
    continues in another part that repeats its label. Time is linear in the nodes, except for sorting children by width.
    """
    cuts = _find_cuts(nodes, tree, width, gap, limit)
    parts: list[Sketch] = []
    waiting = [(0, 0)]  # (the part's root, the first node below it), for part 0, 1 ...
    for number, (root, first) in enumerate(waiting):
        parts.append(_part(nodes, root, first or root + 1, cuts, number, waiting))
    return parts


def _find_cuts(nodes: Sketch, tree: TreeNode, width: Width, gap: int, limit: int) -> _Cuts:
    sizes = [node.size for node in nodes]
    blocks = [0] * len(nodes)
    cuts = _Cuts()
    for i in range(len(nodes) - 1, -1, -1):
        children = child_indices(sizes, i)
        excess = sum(blocks[child] for child in children) - limit
        for child in sorted(children, key=lambda child: -blocks[child]) if excess > 0 else ():
            if excess <= 0 or sizes[child] == 1:
                continue
            reference = _reference(nodes[child], tree)
            saved = blocks[child] - width(reference) - gap
            if saved > 0:
                cuts.apart[child] = reference
                blocks[child] -= saved
                excess -= saved
        inner = sum(blocks[child] for child in children)
        if excess > 0:
            inner = _break_flat(i, children, blocks, limit, cuts)
        blocks[i] = max(width(nodes[i]) + gap, inner)
    return cuts


def _reference(node: SketchNode, tree: TreeNode) -> SketchNode:
    start, end = tree.arrays.starts[node.index], tree.arrays.ends[node.index]
    # A few words from each end are enough; using all would take quadratic time.
    words = tree.arrays.words[start:end] if end - start <= 20 else _ends(tree.arrays.words, start, end)
    return replace(node, size=1, lines=text_lines(words, 2), folded=True, part=-1)


def _ends(words: Sequence[str], start: int, end: int) -> tuple[str, ...]:
    return (*words[start : start + 10], "…", *words[end - 10 : end])


def _break_flat(phrase: int, children: Sequence[int], blocks: Sequence[int], limit: int, cuts: _Cuts) -> int:
    """Break a phrase with many small children into runs of them; return the width of the first."""
    room, first = limit, 0
    for child in children:
        if blocks[child] > room and child != children[0]:
            first = first or limit - room
            cuts.breaks[child] = phrase
            room = limit
        room -= blocks[child]
    return first or limit - room


def _part(nodes: Sketch, root: int, first: int, cuts: _Cuts, number: int, waiting: list[tuple[int, int]]) -> Sketch:
    """Return the part from `root` with the nodes from `first` on, and append to `waiting` the parts it refers to."""
    end = root + nodes[root].size
    chosen, starts, ends = [replace(nodes[root], part=number)], [root], [end]
    i = first
    while i < end:
        if i != first and i in cuts.breaks:
            phrase = cuts.breaks[i]
            i_next = phrase + nodes[phrase].size
            chosen.append(replace(nodes[phrase], size=1, label="…", folded=True, lines=(), part=len(waiting)))
            waiting.append((phrase, i))
        elif i in cuts.apart:
            i_next = i + nodes[i].size
            chosen.append(replace(cuts.apart[i], part=len(waiting)))
            waiting.append((i, 0))
        else:
            i_next = i + 1
            chosen.append(replace(nodes[i]))
        starts.append(i)
        ends.append(i + nodes[i].size if chosen[-1].size > 1 else i_next)
        i = i_next
    set_sizes(chosen, ends, starts)
    return chosen
