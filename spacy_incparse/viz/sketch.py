"""The drawn nodes of a tree in pre-order, with some phrases folded to triangles over their words."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

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
    nodes: Sketch = []
    for i in _unfolded(tree, folded):
        label = visible(arrays.labels[i])
        if arrays.sizes[i] == 1:
            nodes.append(SketchNode(label, 1, (visible(arrays.words[arrays.starts[i]]),), i))
        elif i in folded:
            words = arrays.words[arrays.starts[i] : arrays.ends[i]]
            nodes.append(SketchNode(label, 1, text_lines(words), i, folded=True))
        else:
            nodes.append(SketchNode(label, arrays.sizes[i], (), i))
    set_sizes(nodes, [node.index + arrays.sizes[node.index] for node in nodes], [node.index for node in nodes])
    return nodes


def set_sizes(nodes: Sketch, ends: Sequence[int], starts: Sequence[int]) -> None:
    """Set the size of each node: the number of nodes that start before its end, by their numbers in the tree."""
    path: list[int] = []  # positions of the open phrases
    for position, start in enumerate([*starts, max(ends)]):
        while path and ends[path[-1]] <= start:
            phrase = path.pop()
            nodes[phrase].size = position - phrase
        if position < len(nodes) and nodes[position].size != 1:
            path.append(position)


def folded_phrases(
    tree: Tree, *, labels: Collection[str] = (), depth: int | None = None, length: int | None = None
) -> frozenset[int]:
    """Return the outermost phrases to fold: those with one of the labels, those `depth` levels below `tree`, and those
    of two to `length` words.

    A label may be whole or without its function: "NP" also folds "NP-SBJ". `tree` itself is folded only by label.
    """
    found, wanted = set(), frozenset(labels)
    for node, level in _levels(tree):
        is_short = length is not None and 1 < node.end - node.start <= length
        if {node.label, node.category} & wanted or (level and (is_short or level == depth)):
            found.add(node.index)
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


def _levels(tree: Tree) -> Iterator[tuple[Tree, int]]:
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
    blocks, inner = _block_widths(sizes, widths, gap)
    lefts, depths, parents = _blocks_from_left(sizes, blocks, inner)
    centres = [0] * len(sizes)
    for i in range(len(sizes) - 1, -1, -1):
        width, room = widths[i], blocks[i] - gap
        centres[i] = lefts[i] + (room - width) // 2 + width // 2
        children = child_indices(sizes, i)
        if children:
            middle = (centres[children[0]] + centres[children[-1]]) // 2
            lowest, highest = lefts[i] + width // 2, lefts[i] + room - width + width // 2
            centres[i] = min(max(middle, lowest), highest)
    return Layout(centres, depths, parents, blocks[0] - gap)


def child_indices(sizes: Sequence[int], index: int) -> list[int]:
    """Return the children of a node from left to right, as indices in pre-order."""
    children, child, behind = [], index + 1, index + sizes[index]
    while child < behind:
        children.append(child)
        child += sizes[child]
    return children


def _block_widths(sizes: Sequence[int], widths: Sequence[int], gap: int) -> tuple[list[int], list[int]]:
    """Return the width of each block, and the total width of its children's blocks."""
    blocks, inner = [0] * len(sizes), [0] * len(sizes)
    for i in range(len(sizes) - 1, -1, -1):
        inner[i] = sum(blocks[child] for child in child_indices(sizes, i))
        blocks[i] = max(widths[i] + gap, inner[i])
    return blocks, inner


def _blocks_from_left(
    sizes: Sequence[int], blocks: Sequence[int], inner: Sequence[int]
) -> tuple[list[int], list[int], list[int]]:
    """Return left edge, depth and parent of each node."""
    lefts, depths, parents = [0] * len(sizes), [0] * len(sizes), [-1] * len(sizes)
    for i in range(len(sizes)):
        left = lefts[i] + (blocks[i] - inner[i]) // 2
        for child in child_indices(sizes, i):
            lefts[child], depths[child], parents[child] = left, depths[i] + 1, i
            left += blocks[child]
    return lefts, depths, parents


Width = Callable[[SketchNode], int]


@dataclass
class _Cuts:
    """The cuts of a sketch, by positions in it."""

    apart: dict[int, SketchNode] = field(default_factory=dict)  # phrases drawn separately -> the nodes in their place
    breaks: dict[int, int] = field(default_factory=dict)  # children that begin a new part of a flat phrase -> it


def wrap(nodes: Sketch, tree: Tree, width: Width, gap: int, limit: int) -> list[Sketch]:
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


def _find_cuts(nodes: Sketch, tree: Tree, width: Width, gap: int, limit: int) -> _Cuts:
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


def _reference(node: SketchNode, tree: Tree) -> SketchNode:
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
