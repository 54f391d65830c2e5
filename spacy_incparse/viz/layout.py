"""Positions of a tree's nodes in a picture: phrases are above their words, and adjacent subtrees never overlap.

All arithmetic uses integers in the caller's unit (terminal columns, pixels) and takes linear time in the nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


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
