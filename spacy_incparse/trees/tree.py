"""Immutable phrase-structure trees over flat arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from spacy_incparse.tokens import escape_brackets, escape_label
from spacy_incparse.trees.labels import bare_label, function_tags


@dataclass(frozen=True)
class TreeArrays:
    """All nodes of one tree in pre-order; shared by all views of its nodes.

    The subtree of node i is the slice i : i + sizes[i]; a node of size 1 is a POS node, with exactly one word.
    """

    labels: tuple[str, ...]
    starts: tuple[int, ...]  # index of the first word under the node
    ends: tuple[int, ...]  # one behind the last word under the node
    sizes: tuple[int, ...]  # nodes in the subtree, the node itself included
    words: tuple[str, ...]

    @classmethod
    def of(cls, labels: Sequence[str], sizes: Sequence[int], words: Sequence[str]) -> TreeArrays:
        """Derive the spans from the subtree sizes in linear time."""
        starts, n_words = [], 0
        for size in sizes:
            starts.append(n_words)
            n_words += size == 1
        starts.append(n_words)
        ends = tuple(starts[i + size] for i, size in enumerate(sizes))
        return cls(tuple(labels), tuple(starts[:-1]), ends, tuple(sizes), tuple(words))

    @cached_property
    def parents(self) -> tuple[int, ...]:
        """Index of each node's parent; -1 at the root."""
        parents: list[int] = []
        path: list[tuple[int, int]] = []  # the open nodes, as (index, index behind the subtree)
        for index, size in enumerate(self.sizes):
            while path and path[-1][1] <= index:
                path.pop()
            parents.append(path[-1][0] if path else -1)
            path.append((index, index + size))
        return tuple(parents)


class Tree:
    """A node of a phrase-structure tree with all that is below it.

    Nodes compare equal where labels, shape and words are equal, wherever they stand in their own tree.
    `start` and `end` count the words of the whole tree, also those of traces where these are still in the tree.
    """

    __slots__ = ("_arrays", "_index")

    def __init__(self, arrays: TreeArrays, index: int = 0):
        self._arrays, self._index = arrays, index

    @property
    def arrays(self) -> TreeArrays:
        """The flat arrays of the whole tree that this node belongs to."""
        return self._arrays

    @property
    def index(self) -> int:
        """Pre-order number of the node in the whole tree; the root has 0."""
        return self._index

    @property
    def label(self) -> str:
        """The phrase label, such as "NP"; at a POS node the tag."""
        return self._arrays.labels[self._index]

    @property
    def category(self) -> str:
        """The label without function tags and indices: "NP" where the label is "NP-SBJ-1"."""
        return bare_label(self.label)

    @property
    def function(self) -> str:
        """The function tags of the label, several joined by "-": "SBJ" of "NP-SBJ-1"; "" where there are none."""
        return function_tags(self.label)

    @property
    def start(self) -> int:
        """Index of the first word under the node."""
        return self._arrays.starts[self._index]

    @property
    def end(self) -> int:
        """One behind the index of the last word under the node."""
        return self._arrays.ends[self._index]

    @property
    def size(self) -> int:
        """Number of nodes from here down, this one and the POS nodes included."""
        return self._arrays.sizes[self._index]

    @property
    def is_preterminal(self) -> bool:
        """Whether this is a POS node: it has one word and no children."""
        return self.size == 1

    @property
    def children(self) -> tuple[Tree, ...]:
        """The child nodes from left to right; () at a POS node."""
        return tuple(self)

    @property
    def parent(self) -> Tree | None:
        """The node above; None at the root."""
        above = self._arrays.parents[self._index]
        return None if above < 0 else self._at(above)

    @property
    def root(self) -> Tree:
        """The top node of the whole tree."""
        return self._at(0)

    @property
    def words(self) -> tuple[str, ...]:
        """The raw words under the node."""
        return self._arrays.words[self.start : self.end]

    @property
    def tags(self) -> tuple[str, ...]:
        """The labels of the POS nodes under the node, one a word."""
        labels, sizes = self._arrays.labels, self._arrays.sizes
        return tuple(labels[i] for i in range(self._index, self._index + self.size) if sizes[i] == 1)

    def preorder(self) -> Iterator[Tree]:
        """Yield this node and all below it, parents before children, left to right."""
        return (self._at(i) for i in range(self._index, self._index + self.size))

    def preterminals(self) -> Iterator[Tree]:
        """Yield the POS nodes from left to right."""
        return (node for node in self.preorder() if node.is_preterminal)

    def spans(self) -> list[tuple[str, int, int]]:
        """Return (label, start, end) of all phrases in pre-order; POS nodes are no phrases."""
        arrays = self._arrays
        nodes = range(self._index, self._index + self.size)
        return [(arrays.labels[i], arrays.starts[i], arrays.ends[i]) for i in nodes if arrays.sizes[i] > 1]

    def pretty(self, width: int = 80) -> str:
        """Return the brackets over indented lines: what fits into `width` characters stays on one line."""
        return _indented(self, width)

    def __iter__(self) -> Iterator[Tree]:
        arrays, child, behind = self._arrays, self._index + 1, self._index + self.size
        while child < behind:
            yield self._at(child)
            child += arrays.sizes[child]

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        return True  # a POS node has length 0, and is a tree all the same

    def __getitem__(self, i: int) -> Tree:
        return self.children[i]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tree) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _at(self, index: int) -> Tree:
        """Return another node of the same tree; a subclass overrides it, so that its nodes stay of its kind."""
        return Tree(self._arrays, index)

    def _key(self) -> tuple[tuple[str, ...], tuple[int, ...], tuple[str, ...]]:
        nodes = slice(self._index, self._index + self.size)
        return self._arrays.labels[nodes], self._arrays.sizes[nodes], self.words

    def __str__(self) -> str:
        return "".join(_bracket_pieces(self))

    def __repr__(self) -> str:
        return f"Tree({str(self)!r})"

    def __reduce__(self):
        arrays = self._arrays
        return _unpickle, (arrays.labels, arrays.sizes, arrays.words, self._index)


class TreeBuilder:
    """Builds a tree from left to right in linear time: `open`, `leaf`, `close`, and `finish` at the end."""

    def __init__(self) -> None:
        self._labels: list[str] = []
        self._sizes: list[int] = []
        self._words: list[str] = []
        self._open: list[int] = []

    def open(self, label: str) -> None:
        """Begin a phrase; all that follows belongs to it until it is closed."""
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

    def subtree(self, tree: Tree) -> None:
        """Add a copy of a whole tree or of the part of one that is under a node."""
        self._check_single_root()
        nodes = slice(tree.index, tree.index + tree.size)
        self._labels += tree.arrays.labels[nodes]
        self._sizes += tree.arrays.sizes[nodes]
        self._words += tree.words

    def close(self) -> None:
        """End the phrase that was opened last. Raises ValueError where there is none, or nothing in it."""
        if not self._open:
            raise ValueError("close() without an open phrase")
        index = self._open.pop()
        self._sizes[index] = len(self._labels) - index
        if self._sizes[index] == 1:
            raise ValueError(f"the phrase {self._labels[index]!r} has no children")

    def finish(self) -> Tree:
        """Return the tree. Raises ValueError where it is empty or a phrase is still open."""
        if self._open or not self._labels:
            raise ValueError(f"{len(self._open)} phrases are still open" if self._open else "an empty tree")
        return Tree(TreeArrays.of(self._labels, self._sizes, self._words))

    def _check_single_root(self) -> None:
        if self._labels and not self._open:
            raise ValueError("a tree has one root only")


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


def _unpickle(labels: tuple[str, ...], sizes: tuple[int, ...], words: tuple[str, ...], index: int) -> Tree:
    return Tree(TreeArrays.of(labels, sizes, words), index)


def _bracket_pieces(tree: Tree) -> list[str]:
    """Return one string a node, with the brackets that close behind it; joined they are the tree on one line."""
    arrays = tree.arrays
    pieces: list[str] = []
    behind: list[int] = []  # ends of the open phrases
    for i in range(tree.index, tree.index + tree.size):
        space = " " if pieces and pieces[-1] != "(" else ""
        label = escape_label(arrays.labels[i])
        if arrays.sizes[i] > 1:
            behind.append(i + arrays.sizes[i])
            pieces.append(f"{space}({label}")
            continue
        n_closed = 0
        while behind and behind[-1] == i + 1:
            behind.pop()
            n_closed += 1
        pieces.append(f"{space}({label} {escape_brackets(arrays.words[arrays.starts[i]])}){')' * n_closed}")
    return pieces


def _indented(tree: Tree, width: int) -> str:
    pieces = _bracket_pieces(tree)
    offsets = [0]
    for piece in pieces:
        offsets.append(offsets[-1] + len(piece))
    lines: list[str] = []
    open_ends: list[int] = []
    node, n_nodes = 0, tree.size
    while node < n_nodes:
        while open_ends and open_ends[-1] <= node:
            open_ends.pop()
        indent = 2 * len(open_ends)
        size = tree.arrays.sizes[tree.index + node]
        behind = node + size
        fits = indent + offsets[behind] - offsets[node] <= width
        if not fits and size > 1:
            open_ends.append(behind)
            behind = node + 1
        lines.append(" " * indent + "".join(pieces[node:behind]).lstrip(" "))
        node = behind
    return "\n".join(lines)
