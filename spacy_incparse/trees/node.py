"""A node of a tree and navigation from it to others; `Tree` in tree.py adds conversions, edits and pictures."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast, overload

from spacy_incparse.errors import IncparseError
from spacy_incparse.trees import walks
from spacy_incparse.trees.arrays import Phrase, TreeArrays
from spacy_incparse.trees.labels import bare_label, function_tags, warn_of_unknown_labels
from spacy_incparse.trees.walks import Production

if TYPE_CHECKING:
    from typing_extensions import Self


def missing_attribute(kind: str, name: str) -> str:
    """Return the message for an attribute that a tree does not have."""
    what = f"{kind!r} object has no attribute {name!r}"
    return f"{what}: use {ADVICE[name]}" if name in ADVICE else what


class TreeNode:
    """A view of a node in flat arrays: its labels, its span, and the nodes around it.

    Users work with `Tree`, the subclass with conversions and pictures. Modules that `Tree` imports use this class.
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
    def own_arrays(self) -> TreeArrays:
        """The flat arrays of the subtree under this node, as if it were a whole tree."""
        return self._arrays.subtree(self._index)

    @property
    def label(self) -> str:
        """The whole label, such as "NP" or "NP-SBJ-1"; at a POS node the tag."""
        return self._arrays.labels[self._index]

    @property
    def category(self) -> str:
        """The label without function tags and indices: "NP" for "NP-SBJ-1"."""
        return bare_label(self.label)

    @property
    def function(self) -> str:
        """The function tags of the label, joined by "-": "SBJ" for "NP-SBJ-1", "" if there are none."""
        return function_tags(self.label)

    @property
    def tag(self) -> str | None:
        """The label of a POS node; None at a phrase."""
        return self.label if self.is_leaf else None

    @property
    def start(self) -> int:
        """Index of the first word under the node."""
        return self._arrays.starts[self._index]

    @property
    def end(self) -> int:
        """One after the index of the last word under the node."""
        return self._arrays.ends[self._index]

    @property
    def start_char(self) -> int:
        """Index of the node's first character in the text of the whole tree."""
        return self._arrays.word_offsets[self.start]

    @property
    def end_char(self) -> int:
        """One after the index of the node's last character in the text of the whole tree."""
        return self._arrays.word_offsets[self.end] - 1

    @property
    def text(self) -> str:
        """The text that the node covers."""
        return " ".join(self.words)

    @property
    def words(self) -> tuple[str, ...]:
        """The raw words under the node."""
        return self._arrays.words[self.start : self.end]

    @property
    def tokens(self) -> Sequence[Any]:
        """The words under the node; on a Doc, its tokens."""
        return self.words

    @property
    def tags(self) -> tuple[str, ...]:
        """The labels of the POS nodes under the node, one per word."""
        arrays = self._arrays
        return tuple(arrays.labels[leaf] for leaf in arrays.leaves[self.start : self.end])

    @property
    def size(self) -> int:
        """Number of nodes in the subtree, including this node and the POS nodes."""
        return self._arrays.sizes[self._index]

    @property
    def depth(self) -> int:
        """Number of nodes above; 0 at the root."""
        return self._arrays.depths[self._index]

    @property
    def height(self) -> int:
        """Number of steps down to the lowest POS node; 0 at a POS node."""
        return self._arrays.heights[self._index]

    @property
    def is_leaf(self) -> bool:
        """Whether the node has no children; since words are not nodes, POS nodes are the leaves."""
        return self._arrays.sizes[self._index] == 1

    @property
    def is_preterminal(self) -> bool:
        """Whether this is a POS node: it has one word and no children."""
        return self.is_leaf

    @property
    def children(self) -> tuple[Self, ...]:
        """The child nodes from left to right; () at a POS node."""
        return tuple(map(self._at, walks.children(self._arrays, self._index)))

    @property
    def parent(self) -> Self | None:
        """The node above; None at the root."""
        above = self._arrays.parents[self._index]
        return None if above < 0 else self._at(above)

    @property
    def siblings(self) -> tuple[Self, ...]:
        """The other children of the parent, from left to right; () at the root."""
        above = self._arrays.parents[self._index]
        nodes = walks.children(self._arrays, above) if above >= 0 else ()
        return tuple(self._at(node) for node in nodes if node != self._index)

    @property
    def root(self) -> Self:
        """The top node of the whole tree."""
        return self._at(0)

    def pos_nodes(self) -> tuple[Self, ...]:
        """Return the POS nodes from left to right. Their words are `words`, one for each."""
        return tuple(map(self._at, self._arrays.leaves[self.start : self.end]))

    def preterminals(self) -> Iterator[Self]:
        """Yield the POS nodes from left to right."""
        return iter(self.pos_nodes())

    def leaves(self) -> tuple[Self, ...]:
        """Return the POS nodes from left to right. Deprecated: use `pos_nodes`; elsewhere, leaves are words."""
        warnings.warn(LEAVES, DeprecationWarning, stacklevel=2)
        return self.pos_nodes()

    def preorder(self) -> Iterator[Self]:
        """Yield this node and all nodes below it, parents before children, left to right."""
        return map(self._at, self._nodes())

    def postorder(self) -> Iterator[Self]:
        """Yield this node and all nodes below it, children before parents, left to right."""
        return map(self._at, walks.postorder(self._arrays, self._index))

    def subtrees(
        self, label: str | Collection[str] | None = None, where: Callable[[Self], bool] | None = None
    ) -> Iterator[Self]:
        """Yield this node and the nodes below it, including POS nodes, in pre-order, optionally filtered.

        label: one label or several, each a whole label ("NP-SBJ") or a category ("NP").
        where: a function that takes a node and returns whether to yield it.

        Warns once about each label that no tree of this kind has.
        """
        found = walks.labelled(self._arrays, self._nodes(), label)
        if label and not found:
            warn_of_unknown_labels(self._arrays, label, phrases_only=False, stacklevel=2)
        nodes = map(self._at, found)
        return nodes if where is None else filter(where, nodes)

    def phrases(self, label: str | Collection[str] | None = None, nested: str = "all") -> tuple[Self, ...]:
        """Return the phrases from this node down in pre-order, without POS nodes; `label` is as in `subtrees`.

        nested: "all"; "outermost": only phrases inside no other result; "innermost": only phrases that contain no other
        result.

        Warns once about each label that no tree of this kind has.
        """
        arrays = self._arrays
        phrases = [node for node in self._nodes() if arrays.sizes[node] > 1]
        found = walks.labelled(arrays, phrases, label)
        if label and not found:
            warn_of_unknown_labels(arrays, label, phrases_only=True, stacklevel=2)
        return tuple(map(self._at, walks.without_nested(arrays, found, nested)))

    def lca(self, a: TreeNode | int, b: TreeNode | int) -> Self:
        """Return the lowest node that covers `a` and `b`, which are nodes of this tree or indices of words.

        Raises IncparseError if one of them is not in this tree.
        """
        return self._at(walks.lowest_common(self._arrays, self._index_of(a), self._index_of(b)))

    def path(self, a: TreeNode | int, b: TreeNode | int) -> tuple[Self, ...]:
        """Return the nodes from `a` up to the lowest common node and down to `b`; `a` and `b` are as in `lca`."""
        return tuple(map(self._at, walks.path(self._arrays, self._index_of(a), self._index_of(b))))

    def spans(self) -> list[Phrase]:
        """Return (label, start, end) of all phrases in pre-order; POS nodes are not phrases."""
        arrays, nodes = self._arrays, slice(self._index, self._index + self.size)
        fields = zip(arrays.labels[nodes], arrays.starts[nodes], arrays.ends[nodes], arrays.sizes[nodes], strict=True)
        return [(label, start, end) for label, start, end, size in fields if size > 1]

    def productions(self) -> list[Production]:
        """Return the production of each node in pre-order: NP -> DT NN, DT -> 'the'."""
        return list(walks.productions(self._arrays, self._index))

    def __iter__(self) -> Iterator[Self]:
        return map(self._at, walks.children(self._arrays, self._index))

    def __len__(self) -> int:
        return sum(1 for _ in walks.children(self._arrays, self._index))

    def __bool__(self) -> bool:
        return True  # a POS node has length 0, but is still a tree

    @overload
    def __getitem__(self, i: int) -> Self: ...

    @overload
    def __getitem__(self, i: slice) -> tuple[Self, ...]: ...

    def __getitem__(self, i: int | slice) -> Self | tuple[Self, ...]:
        if isinstance(i, tuple):
            raise TypeError(f"a child has one number; for nltk's tree{list(i)} write tree[{']['.join(map(str, i))}]")
        try:
            return self.children[i]
        except IndexError:
            raise IndexError(missing_child(self.label, self.words, len(self), cast("int", i))) from None

    if not TYPE_CHECKING:  # type checkers can then report unknown attributes

        def __getattr__(self, name: str) -> Any:
            if hasattr(type(self), name):
                return object.__getattribute__(self, name)  # a property failed: raise its own error
            raise AttributeError(missing_attribute(type(self).__name__, name), name=name, obj=self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TreeNode) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _at(self, index: int) -> Self:
        """Return another node of the same tree; subclasses override this to return nodes of their own class."""
        return type(self)(self._arrays, index)

    def _nodes(self) -> range:
        return range(self._index, self._index + self._arrays.sizes[self._index])

    def _index_of(self, node: TreeNode | int) -> int:
        if isinstance(node, TreeNode):
            if node._arrays is not self._arrays and node._arrays != self._arrays:
                raise IncparseError(f"{node.label} over {' '.join(node.words)!r} is a node of another tree")
            return node._index
        if not 0 <= node < len(self._arrays.words):
            raise IncparseError(
                f"word {node} does not exist: the tree has the words 0 to {len(self._arrays.words) - 1}"
            )
        return self._arrays.leaves[node]

    def _key(self) -> tuple[tuple[str, ...], tuple[int, ...], tuple[str, ...]]:
        nodes = slice(self._index, self._index + self.size)
        return self._arrays.labels[nodes], self._arrays.sizes[nodes], self.words


ADVICE = {
    # nltk
    "pos": "list(zip(tree.words, tree.tags))",
    "pformat": "tree.pretty()",
    "pprint": "print(tree.pretty())",
    "pretty_print": "print(tree.draw())",
    "pformat_latex_qtree": 'tree.to_latex("qtree")',
    "flatten": "tree.words",
    "set_label": "tree.map_labels(...), which returns a new tree",
    "convert": "Tree.from_nltk(...)",
    "copy": "the tree itself: it never changes",
    "chomsky_normal_form": "tree.binarize(), which returns a new tree",
    "un_chomsky_normal_form": "tree.unbinarize(), which returns a new tree",
    "collapse_unary": "tree.collapse_unaries(), which returns a new tree",
    "parent_index": "tree.parent",
    "left_sibling": "tree.siblings",
    "right_sibling": "tree.siblings",
    "treeposition": "tree.index, the number of the node in pre-order",
    "treepositions": "tree.preorder(), which yields the nodes themselves",
    "leaf_treeposition": "tree.pos_nodes()[i]",
    "node": "tree.label",
    # stanza and CoreNLP
    "leaf_labels": "tree.words",
    "yield_preterminals": "tree.preterminals()",
    "visit_preorder": "tree.preorder()",
    "get_unique_constituent_labels": "{phrase.label for phrase in tree.phrases()}",
    "child": "tree.children",
    "value": "tree.label, or at a POS node tree.text for its word",
    "yieldWords": "tree.words",
    "taggedYield": "list(zip(tree.words, tree.tags))",
    "isLeaf": "tree.is_leaf",
    "isPreTerminal": "tree.is_preterminal",
}
"""Name in another library -> replacement here."""

LEAVES = (
    "tree.leaves() returns the POS nodes of this tree, not its words as in nltk. Use tree.words for the words, or "
    "tree.pos_nodes() for the nodes"
)


def missing_child(label: str, words: tuple[str, ...], n_children: int, i: int) -> str:
    """Return the message for a child that a node does not have."""
    if n_children:
        return f"{label} has {n_children} children, and no child {i}"
    return f"({label} {words[0]}) is a POS node, which has no children: its word is tree.text, or tree.words[0]"
