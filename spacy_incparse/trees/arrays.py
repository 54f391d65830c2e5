"""The flat storage of a tree: nodes in pre-order, building and walking them, in linear time and without recursion."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, compress
from typing import TYPE_CHECKING, NamedTuple

from spacy_incparse.errors import IncparseError, check_type
from spacy_incparse.settings import check_choice
from spacy_incparse.trees.labels import ROOT_NAMES, TRACE_TAG, bare_label, function_tags

if TYPE_CHECKING:
    from spacy_incparse.trees.empties import Annotation
    from spacy_incparse.trees.tree import Tree


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
    annotation: Annotation | None = field(default=None, compare=False)  # functions and empty categories, if any

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
        words = self.words[self.starts[index] : self.ends[index]]
        part = TreeArrays.of(self.labels[nodes], self.sizes[nodes], words)
        return replace(part, annotation=self.annotation.below(nodes.start, nodes.stop)) if self.annotation else part

    def functions_of(self, node: int) -> tuple[str, ...]:
        """Return the function tags of a node: those beside the tree, or else those of its label."""
        if self.annotation and self.annotation.functions:
            return self.annotation.functions[node]
        return tuple(filter(None, function_tags(self.labels[node]).split("-")))

    def full_label(self, node: int) -> str:
        """Return the label of a node with its functions, whether they stand in it or beside the tree."""
        label = self.labels[node]
        return label if function_tags(label) else "-".join((label, *self.functions_of(node)))

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
    def overt(self) -> tuple[int, ...]:
        """Index of each word that is no trace."""
        return tuple(word for word, leaf in enumerate(self.leaves) if self.labels[leaf] != TRACE_TAG)

    @cached_property
    def word_offsets(self) -> tuple[int, ...]:
        """Offset of each word in the words joined by single spaces, and of one more word after the last."""
        return tuple(accumulate((len(word) + 1 for word in self.words), initial=0))


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

    def subtree(self, tree: Tree) -> None:
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


Row = tuple[str, int, str]
"""The label of a node, its size and, for a POS node, its word."""


def rows_below(arrays: TreeArrays, node: int) -> list[Row]:
    """Return the nodes of a subtree in pre-order."""
    part, words = arrays.subtree(node), iter(arrays.words[arrays.starts[node] :])
    nodes = zip(part.labels, part.sizes, strict=True)
    return [(label, size, next(words) if size == 1 else "") for label, size in nodes]


def replaced(arrays: TreeArrays, parent: int, place: int, n_old: int, rows: Sequence[Row]) -> TreeArrays:
    """Return the tree with other nodes in the place of so many that begin at a place below a parent.

    The parent and all above it grow or shrink; of the other nodes, none may lose a part.
    """
    sizes, behind = list(arrays.sizes), place + n_old
    while parent >= 0:
        sizes[parent] += len(rows) - n_old
        parent = arrays.parents[parent]
    starts = [*arrays.starts, len(arrays.words)]
    words = [word for _, size, word in rows if size == 1]
    return TreeArrays.of(
        [*arrays.labels[:place], *(row[0] for row in rows), *arrays.labels[behind:]],
        [*sizes[:place], *(row[1] for row in rows), *sizes[behind:]],
        [*arrays.words[: starts[place]], *words, *arrays.words[starts[behind] :]],
    )


NESTED = ("all", "outermost", "innermost")


class Production(NamedTuple):
    """A grammar rule used in a tree: a label with the labels of its children, or a tag with its word."""

    left: str
    right: tuple[str, ...]
    is_lexical: bool = False  # whether `right` is a word

    def __str__(self) -> str:
        return f"{self.left} -> {repr(self.right[0]) if self.is_lexical else ' '.join(self.right)}"


def children(arrays: TreeArrays, index: int) -> Iterator[int]:
    """Yield the children of a node from left to right."""
    return children_by_size(arrays.sizes, index)


def children_by_size(sizes: Sequence[int], index: int) -> Iterator[int]:
    """Yield the children of a node, given the sizes of the subtrees of nodes in pre-order."""
    child, behind = index + 1, index + sizes[index]
    while child < behind:
        yield child
        child += sizes[child]


def postorder(arrays: TreeArrays, index: int) -> Iterator[int]:
    """Yield the nodes of a subtree, children before their parent, left to right."""
    path: list[int] = []
    for node in range(index, index + arrays.sizes[index]):
        path.append(node)
        while path and path[-1] + arrays.sizes[path[-1]] == node + 1:
            yield path.pop()


def closings(arrays: TreeArrays, index: int) -> Iterator[int]:
    """Yield for each node of a subtree in pre-order how many nodes end with it, itself included: none for a phrase."""
    ends: list[int] = []  # of the open nodes
    for node in range(index, index + arrays.sizes[index]):
        ends.append(node + arrays.sizes[node])
        n_open = len(ends)
        while ends and ends[-1] == node + 1:
            ends.pop()
        yield n_open - len(ends)


def bracket_bits(arrays: TreeArrays) -> list[str]:
    """Return the brackets that open and close at each word, as the tables of CoNLL 2005 to 2012 have them."""
    found, opened = [], ""
    for node, (size, n_closed) in enumerate(zip(arrays.sizes, closings(arrays, 0), strict=True)):
        if size > 1:
            opened += f"({arrays.full_label(node)}"
        else:
            found.append(f"{opened}*{')' * (n_closed - 1)}")
            opened = ""
    return found


def labelled(arrays: TreeArrays, nodes: Sequence[int], label: str | Collection[str] | None) -> Sequence[int]:
    """Return the nodes that have the label, or one of several, as their whole label or category.

    Each of `ROOT_NAMES` also stands for the root.
    """
    if label is None:
        return nodes
    wanted = {label} if isinstance(label, str) else frozenset(label)
    labels, root = arrays.labels, -1 if wanted.isdisjoint(ROOT_NAMES) else 0
    return [
        node
        for node in nodes
        if labels[node] in wanted
        or bare_label(labels[node]) in wanted
        or node == root
        or (arrays.annotation and arrays.full_label(node) in wanted)
    ]


def without_nested(arrays: TreeArrays, nodes: Sequence[int], nested: str) -> Sequence[int]:
    """Return the nodes, given in pre-order, that are in no other ("outermost") or contain no other ("innermost")."""
    check_choice("nested", nested, NESTED)
    if nested == "all":
        return nodes
    if nested == "innermost":
        following = [*nodes[1:], len(arrays.sizes)]
        return [node for node, after in zip(nodes, following, strict=False) if after >= node + arrays.sizes[node]]
    kept, behind = [], 0
    for node in nodes:
        if node >= behind:
            kept.append(node)
            behind = node + arrays.sizes[node]
    return kept


def lowest_common(arrays: TreeArrays, a: int, b: int) -> int:
    """Return the lowest node that covers both nodes; it may be one of them."""
    node, last = min(a, b), max(a, b)
    while last >= node + arrays.sizes[node]:
        node = arrays.parents[node]
    return node


def path(arrays: TreeArrays, a: int, b: int) -> list[int]:
    """Return the nodes from one node up to the lowest common one and down to the other, both included."""
    top, sides = lowest_common(arrays, a, b), []
    for node in (a, b):
        side = []
        while node != top:
            side.append(node)
            node = arrays.parents[node]
        sides.append(side)
    return [*sides[0], top, *reversed(sides[1])]


def productions(arrays: TreeArrays, index: int) -> Iterator[Production]:
    """Yield the production of each node of a subtree in pre-order."""
    labels = arrays.labels
    for node in range(index, index + arrays.sizes[index]):
        if arrays.sizes[node] == 1:
            yield Production(labels[node], (arrays.words[arrays.starts[node]],), True)
        else:
            yield Production(labels[node], tuple(labels[child] for child in children(arrays, node)))


JOINT = "+"  # between the labels of a unary chain that has become one node


def map_labels(
    arrays: TreeArrays, change: Callable[[str], str] | Mapping[str, str], *, tags: bool = True
) -> TreeArrays:
    """Return the tree with its labels mapped by a function or a table; labels that are not in the table stay.

    With `tags=False` POS nodes keep their labels.
    """
    labels, sizes = arrays.labels, arrays.sizes
    new = (lambda label: change.get(label, label)) if isinstance(change, Mapping) else change
    changed = [new(label) if tags or size > 1 else label for label, size in zip(labels, sizes, strict=True)]
    for label in changed:
        check_type("a new label", label, str, "a string")
    return TreeArrays.of(changed, sizes, arrays.words)


def collapse_unaries(arrays: TreeArrays, joint: str = JOINT, *, root: bool = False, tags: bool = False) -> TreeArrays:
    """Return the tree with each unary chain of phrases collapsed into one node, whose label joins theirs.

    A chain ends above its POS node, or with `tags` includes it. The top node stays as it is unless `root` is set.
    Raises IncparseError if a label contains `joint`, since `expand_unaries` would split it.
    """
    labels, sizes = arrays.labels, arrays.sizes
    if not joint:
        raise IncparseError("the joint between labels is empty")
    for label in labels:
        if joint in label:
            raise IncparseError(f"the label {label!r} has {joint!r} in it: choose another joint")
    joined: list[list[str]] = []  # kept node -> its label and those of the chain below it
    kept: list[bool] = []
    for i, (label, size) in enumerate(zip(labels, sizes, strict=True)):
        is_joined = i > (not root) and sizes[i - 1] == size + 1 and (size > 1 or tags)
        kept.append(not is_joined)
        if is_joined:
            joined[-1].append(label)
        else:
            joined.append([label])
    _, new_sizes = compress_nodes(labels, sizes, kept)
    return TreeArrays.of([joint.join(parts) for parts in joined], new_sizes, arrays.words)


def expand_unaries(arrays: TreeArrays, joint: str = JOINT) -> TreeArrays:
    """Return the tree with a chain of nodes for each label that contains `joint`: the inverse of `collapse_unaries`."""
    labels, sizes = arrays.labels, arrays.sizes
    parts = [label.split(joint) for label in labels]
    nodes_before = list(accumulate(map(len, parts), initial=0))
    new_labels, new_sizes = [], []
    for i, chain in enumerate(parts):
        behind = nodes_before[i + sizes[i]]
        new_labels += chain
        new_sizes += [behind - nodes_before[i] - k for k in range(len(chain))]
    return TreeArrays.of(new_labels, new_sizes, arrays.words)


def compress_nodes(labels: Sequence[str], sizes: Sequence[int], kept: Sequence[bool]) -> tuple[list[str], list[int]]:
    """Return labels and sizes of the kept nodes; the sizes count kept nodes only."""
    n_kept = list(accumulate(kept, initial=0))
    new_sizes = [n_kept[i + size] - n_kept[i] for i, size in enumerate(sizes)]
    return list(compress(labels, kept)), list(compress(new_sizes, kept))
