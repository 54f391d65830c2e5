"""Building trees from left to right, from parts, or from the spans of phrases."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from spacy_incparse.trees.arrays import Phrase
from spacy_incparse.trees.arrays_builder import ArraysBuilder, arrays_of_phrases
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


def tree_of_phrases(phrases: Iterable[Phrase], words: Sequence[str], tags: Iterable[str]) -> Tree:
    """Return the tree that has these phrases, which are nested and in pre-order; the first is the root."""
    return Tree(arrays_of_phrases(phrases, words, tags))
