"""The flat storage of a tree: nodes in pre-order, and properties derived from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

Phrase = tuple[str, int, int]
"""The label of a phrase, its first word, and one after the last."""


@dataclass(frozen=True)
class TreeArrays:
    """All nodes of one tree in pre-order; shared by all views of its nodes.

    The subtree of node i is the slice i : i + sizes[i]; a node of size 1 is a POS node with exactly one word. Derived
    properties are computed on first use and cached.
    """

    labels: tuple[str, ...]
    starts: tuple[int, ...]  # index of the first word under the node
    ends: tuple[int, ...]  # one after the last word under the node
    sizes: tuple[int, ...]  # nodes in the subtree, the node itself included
    words: tuple[str, ...]

    @classmethod
    def of(cls, labels: Sequence[str], sizes: Sequence[int], words: Sequence[str]) -> TreeArrays:
        """Return the arrays, with spans derived from the subtree sizes in linear time."""
        starts, n_words = [], 0
        for size in sizes:
            starts.append(n_words)
            n_words += size == 1
        starts.append(n_words)
        ends = tuple(starts[i + size] for i, size in enumerate(sizes))
        return cls(tuple(labels), tuple(starts[:-1]), ends, tuple(sizes), tuple(words))

    def subtree(self, index: int) -> TreeArrays:
        """Return the node and all nodes below it as a separate tree."""
        if index == 0:
            return self
        nodes = slice(index, index + self.sizes[index])
        return TreeArrays.of(self.labels[nodes], self.sizes[nodes], self.words[self.starts[index] : self.ends[index]])

    @cached_property
    def parents(self) -> tuple[int, ...]:
        """Index of each node's parent; -1 at the root."""
        parents: list[int] = []
        path: list[tuple[int, int]] = []  # the open nodes, as (index, index after the subtree)
        for index, size in enumerate(self.sizes):
            while path and path[-1][1] <= index:
                path.pop()
            parents.append(path[-1][0] if path else -1)
            path.append((index, index + size))
        return tuple(parents)

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """Number of nodes above each node; 0 at the root."""
        depths: list[int] = []
        for parent in self.parents:
            depths.append(depths[parent] + 1 if depths else 0)
        return tuple(depths)

    @cached_property
    def heights(self) -> tuple[int, ...]:
        """Number of steps from each node down to the lowest POS node under it; 0 at a POS node."""
        heights = [0] * len(self.sizes)
        for index in range(len(heights) - 1, 0, -1):  # children come after their parents
            parent = self.parents[index]
            heights[parent] = max(heights[parent], heights[index] + 1)
        return tuple(heights)

    @cached_property
    def leaves(self) -> tuple[int, ...]:
        """Index of the POS node of each word."""
        return tuple(index for index, size in enumerate(self.sizes) if size == 1)

    @cached_property
    def word_offsets(self) -> tuple[int, ...]:
        """Offset of each word in the words joined by single spaces, and of one more word after the last."""
        return tuple(accumulate((len(word) + 1 for word in self.words), initial=0))
