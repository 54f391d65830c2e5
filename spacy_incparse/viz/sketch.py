"""The drawn nodes of a tree in pre-order, with some phrases folded to triangles over their words."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from spacy_incparse.trees.node import TreeNode
from spacy_incparse.viz.text_width import columns, visible

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


def sketch(tree: TreeNode, folded: Collection[int] = ()) -> Sketch:
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
    tree: TreeNode, *, labels: Collection[str] = (), depth: int | None = None, length: int | None = None
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


def _levels(tree: TreeNode) -> Iterator[tuple[TreeNode, int]]:
    """Yield the phrases, each with its distance from `tree`."""
    path: list[int] = []  # the ends of the open phrases
    for node in tree.preorder():
        while path and path[-1] <= node.index:
            path.pop()
        if not node.is_preterminal:
            yield node, len(path)
            path.append(node.index + node.size)


def _unfolded(tree: TreeNode, folded: Collection[int]) -> Iterator[int]:
    i, behind = tree.index, tree.index + tree.size
    while i < behind:
        yield i
        i += tree.arrays.sizes[i] if i in folded else 1
