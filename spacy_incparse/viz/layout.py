"""Where the nodes of a tree stand in a picture: every phrase above its words, no two subtrees side by side overlapping.

All is integer arithmetic in the caller's unit (columns of a terminal, pixels), linear in the number of nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Layout:
    """Position of each node, in pre-order."""

    centres: list[int]  # column or x on which a node's label is centred and where its edges end
    depths: list[int]  # 0 at the root
    parents: list[int]  # -1 at the root
    width: int


def lay_out(sizes: Sequence[int], widths: Sequence[int], gap: int) -> Layout:
    """Place nodes that are given in pre-order by the sizes of their subtrees and the widths of their own labels.

    Each subtree gets a block as wide as its label and its children's blocks need, with `gap` to its right. A node
    stands in the middle between its first and its last child, as far as its label then stays in its own block.
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
    """Return the children of a node, from left to right, by their numbers in pre-order."""
    children, child, behind = [], index + 1, index + sizes[index]
    while child < behind:
        children.append(child)
        child += sizes[child]
    return children


def _block_widths(sizes: Sequence[int], widths: Sequence[int], gap: int) -> tuple[list[int], list[int]]:
    """Return the width of each block, and of its children's blocks together."""
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
