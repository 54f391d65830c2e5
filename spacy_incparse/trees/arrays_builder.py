"""Building the arrays of a tree from left to right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from spacy_incparse.errors import IncparseError
from spacy_incparse.trees.arrays import Phrase, TreeArrays
from spacy_incparse.trees.node import TreeNode


class ArraysBuilder:
    """Builds a tree from left to right in linear time: `open`, `leaf`, `close`, and `arrays` at the end."""

    def __init__(self) -> None:
        self._labels: list[str] = []
        self._sizes: list[int] = []
        self._words: list[str] = []
        self._open: list[int] = []

    def open(self, label: str) -> None:
        """Begin a phrase; everything added before it is closed belongs to it."""
        self._check_single_root()
        self._open.append(len(self._labels))
        self._labels.append(label)
        self._sizes.append(0)

    def leaf(self, tag: str, word: str) -> None:
        """Add a POS node with its word."""
        self._check_single_root()
        self._labels.append(tag)
        self._sizes.append(1)
        self._words.append(word)

    def subtree(self, tree: TreeNode) -> None:
        """Add a copy of a tree or of the subtree under a node."""
        self._check_single_root()
        nodes = slice(tree.index, tree.index + tree.size)
        self._labels += tree.arrays.labels[nodes]
        self._sizes += tree.arrays.sizes[nodes]
        self._words += tree.words

    def close(self) -> None:
        """End the phrase opened last. Raises IncparseError if no phrase is open or the phrase is empty."""
        if not self._open:
            raise IncparseError("close() without an open phrase")
        index = self._open.pop()
        self._sizes[index] = len(self._labels) - index
        if self._sizes[index] == 1:
            raise IncparseError(f"the phrase {self._labels[index]!r} has no children")

    def arrays(self) -> TreeArrays:
        """Return the arrays of the tree. Raises IncparseError if it is empty or a phrase is still open."""
        if self._open or not self._labels:
            raise IncparseError(f"{len(self._open)} phrases are still open" if self._open else "an empty tree")
        return TreeArrays.of(self._labels, self._sizes, self._words)

    def _check_single_root(self) -> None:
        if self._labels and not self._open:
            raise IncparseError("a tree has one root only")


def arrays_of_phrases(phrases: Iterable[Phrase], words: Sequence[str], tags: Iterable[str]) -> TreeArrays:
    """Return the arrays of the tree that has these phrases, nested and in pre-order; without any, of a POS node."""
    builder, ends = ArraysBuilder(), list[int]()  # of the open phrases
    waiting = iter(phrases)
    phrase = next(waiting, None)
    for i, (word, tag) in enumerate(zip(words, tags, strict=True)):
        while phrase is not None and phrase[1] == i:
            builder.open(phrase[0])
            ends.append(phrase[2])
            phrase = next(waiting, None)
        builder.leaf(tag, word)
        while ends and ends[-1] == i + 1:
            builder.close()
            ends.pop()
    return builder.arrays()
