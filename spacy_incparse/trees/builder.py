"""Building trees from left to right or from parts."""

from __future__ import annotations

from collections.abc import Sequence

from spacy_incparse.trees.arrays_builder import ArraysBuilder
from spacy_incparse.trees.tree import Tree


class TreeBuilder(ArraysBuilder):
    """Builds a tree from left to right in linear time: `open`, `leaf`, `close`, and `finish` at the end."""

    def finish(self) -> Tree:
        """Return the tree. Raises ValueError if it is empty or a phrase is still open."""
        return Tree(self.arrays())


def make_tree(label: str, children: Sequence[Tree] | str) -> Tree:
    """Return a tree with copies of the given children, or the POS node of a word if `children` is a string."""
    builder = TreeBuilder()
    if isinstance(children, str):
        builder.leaf(label, children)
        return builder.finish()
    builder.open(label)
    for child in children:
        builder.subtree(child)
    builder.close()
    return builder.finish()
