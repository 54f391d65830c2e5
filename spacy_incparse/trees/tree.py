"""Immutable phrase-structure trees for users: nodes with conversions, edits and pictures."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import TYPE_CHECKING, Any, overload

from spacy_incparse.errors import IncparseError, check_type
from spacy_incparse.settings import MOST, check_number
from spacy_incparse.tokens import escape_label
from spacy_incparse.trees import arrays as edits
from spacy_incparse.trees import arrays as walks
from spacy_incparse.trees.arrays import Phrase, Production, TreeArrays
from spacy_incparse.trees.brackets import bracket_string, parse_one
from spacy_incparse.trees.empties import Annotation, Empty, annotated, with_empties, without_empties
from spacy_incparse.trees.export import from_dict, from_nltk, to_dict, to_latex, to_nltk
from spacy_incparse.trees.labels import bare_label, function_tags, warn_of_unknown_labels

if TYPE_CHECKING:
    import nltk
    from typing_extensions import Self


class Tree:
    """A node of a phrase-structure tree with everything below it.

    Phrases and POS nodes are nodes, words are not: a POS node covers its word and has no children. `label` is a
    string, not a method; at a POS node it is the tag. `words` are the words, `len(tree)` counts children.

    Nodes are equal if their labels, shape and words are equal, wherever they are in their trees. `start` and `end`
    count the words of the whole tree, including traces that have not been removed. Without a Doc, the text of a tree
    is its words joined by single spaces.
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
    def functions(self) -> tuple[str, ...]:
        """The function tags of the node, such as ("LOC", "PRD"), whether they stand in its label or beside the tree."""
        return self._arrays.functions_of(self._index)

    @property
    def function(self) -> str:
        """The function tags, joined by "-": "SBJ" for "NP-SBJ-1", "" if there are none."""
        return "-".join(self.functions)

    @property
    def full_label(self) -> str:
        """The label with the functions: "NP-SBJ", whether `label` has them or not."""
        return self._arrays.full_label(self._index)

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

    def token_texts(self, name: str) -> list[str]:
        """Return an attribute of each word's token, named as in patterns. Raises IncparseError: there are no tokens."""
        what = f"{name} is an attribute of tokens, which this tree does not have: {str(self)[:60]}"
        raise IncparseError(f"{what}; trees on a Doc have them, such as those of doc._.trees")

    @property
    def tags(self) -> tuple[str, ...]:
        """The labels of the POS nodes under the node, one per word."""
        arrays, first = self._arrays, self._index
        nodes = slice(first, first + arrays.sizes[first])
        return tuple(compress(arrays.labels[nodes], map((1).__eq__, arrays.sizes[nodes])))

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
        what = "tree.leaves() returns the POS nodes of this tree, not its words as in nltk"
        advice = "Use tree.words for the words, or tree.pos_nodes() for the nodes"
        warnings.warn(f"{what}. {advice}", DeprecationWarning, stacklevel=2)
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

        label: one label or several, each a whole label ("NP-SBJ") or a category ("NP"). ROOT, TOP, S1, VROOT, _ROOT_
            and the empty label find the root of the whole tree, whatever its label.
        where: a function that takes a node and returns whether to yield it.

        Warns once about each label that no tree of this kind has.
        """
        check_type("label", label, str | Collection | None, "a label, or a collection of labels")
        found = walks.labelled(self._arrays, self._nodes(), label)
        if label:
            warn_of_unknown_labels(self._arrays, label, phrases_only=False, stacklevel=2)
        nodes = map(self._at, found)
        return nodes if where is None else filter(where, nodes)

    def phrases(self, label: str | Collection[str] | None = None, nested: str = "all") -> tuple[Self, ...]:
        """Return the phrases from this node down in pre-order, without POS nodes; `label` is as in `subtrees`.

        nested: "all"; "outermost": only phrases inside no other result; "innermost": only phrases that contain no other
        result.

        Warns once about each label that no tree of this kind has.
        """
        check_type("label", label, str | Collection | None, "a label, or a collection of labels")
        arrays = self._arrays
        phrases = [node for node in self._nodes() if arrays.sizes[node] > 1]
        found = walks.labelled(arrays, phrases, label)
        if label:
            warn_of_unknown_labels(arrays, label, phrases_only=True, stacklevel=2)
        return tuple(map(self._at, walks.without_nested(arrays, found, nested)))

    def lca(self, a: Any, b: Any) -> Self:
        """Return the lowest node that covers `a` and `b`: nodes of this tree, or indices of words in its sentence.

        On a Doc, they may also be Tokens and Spans. Raises IncparseError for anything else, and for what is not in this
        tree.
        """
        return self._at(walks.lowest_common(self._arrays, self._index_of(a), self._index_of(b)))

    def path(self, a: Any, b: Any) -> tuple[Self, ...]:
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

    def template(self, depth: int) -> str:
        """Return the labels down to so many levels below this node, as brackets without words: its syntactic template.

        With 1, it has the top two levels, as in "(S (NP) (VP) (.))", the templates of Iyyer, Wieting, Gimpel &
        Zettlemoyer (2018), Adversarial Example Generation with Syntactically Controlled Paraphrase Networks. Raises
        ConfigError unless `depth` is a whole number from 0.
        """
        check_number("depth", depth, 0, MOST)
        depths, pieces, last = self._arrays.depths, list[str](), self.depth - 1
        for node in self._nodes():
            if depths[node] <= self.depth + depth:
                closing = ")" * (last - depths[node] + 1)
                pieces.append(f"{closing} ({escape_label(self._arrays.labels[node])}")
                last = depths[node]
        return "".join(pieces).lstrip() + ")" * (last - self.depth + 1)

    @property
    def empties(self) -> tuple[Trace, ...]:
        """The empty categories under the node, parents before children, left to right, if the tree knows any."""
        annotation, nodes = self._arrays.annotation, self._nodes()
        empties = annotation.empties if annotation else ()
        return tuple(Trace(self, number) for number, one in enumerate(empties) if one.parent in nodes)

    @property
    def traces(self) -> tuple[Trace, ...]:
        """The empty categories of the whole tree for which this node stands, at once or by way of others."""
        return tuple(
            trace for trace in self.root.empties if trace.overt is not None and trace.overt.index == self._index
        )

    @property
    def antecedent(self) -> Self | None:
        """The phrase that a relative clause is about, at the phrase with the relative pronoun; None elsewhere.

        In (NP (NP the man) (SBAR (WHNP who) ...)) it is that of the WHNP, (NP the man).
        """
        above = self.parent
        if above is None or above.parent is None or above[0].index != self._index or not self.traces:
            return None
        whole = above.parent
        before = [node for node in whole if node.index < above.index and node.category == whole.category]
        return before[-1] if before and whole.category != above.category else None

    def annotate(self, functions: Sequence[tuple[str, ...]] = (), empties: Sequence[Empty] = ()) -> Tree:
        """Return the tree with function tags, a tuple for each node in pre-order or none at all, and empty categories.

        They replace those of the tree. Raises IncparseError if one of them does not fit.
        """
        for name, value in (("functions", functions), ("empties", empties)):
            check_type(name, value, Sequence, "a sequence")
        return Tree(annotated(self.own_arrays, functions, empties))

    def with_empties(self) -> Tree:
        """Return the tree as the Penn Treebank prints it, with functions in the labels, traces and co-indices."""
        return Tree(with_empties(self.own_arrays))

    def remove_empties(self) -> Tree | None:
        """Return the tree without traces (-NONE-) and phrases that have no other words; None if nothing is left.

        The inverse of `with_empties`: labels are categories, and `functions` and `empties` have what was removed.
        """
        kept = without_empties(self.own_arrays)
        return None if kept is None else Tree(kept)

    def strip_functions(self) -> Tree:
        """Return a tree whose labels are categories: NP-SBJ-1 becomes NP. It has no `functions` and `empties`."""
        return Tree(edits.map_labels(self.own_arrays, bare_label))

    def collapse_unaries(self, joint: str = "+", *, root: bool = False, tags: bool = False) -> Tree:
        """Return a tree in which a phrase over a single phrase is one node with both labels: S over VP is S+VP.

        root: join the top node too; tags: join a phrase with its POS node if that is its only child.
        """
        check_type("joint", joint, str, "a string, such as '+'")
        return Tree(edits.collapse_unaries(self.own_arrays, joint, root=root, tags=tags))

    def expand_unaries(self, joint: str = "+") -> Tree:
        """Return a tree with one node for each part of a joint label: the inverse of `collapse_unaries`."""
        check_type("joint", joint, str, "a string, such as '+'")
        return Tree(edits.expand_unaries(self.own_arrays, joint))

    def binarize(self, direction: str = "right", *, marker: str = "|", horizontal: int | None = None) -> Tree:
        """Return a tree with at most two children per node; see `transforms.binarize.binarize`."""
        from spacy_incparse.transforms.binarize import binarize

        return Tree(binarize(self.own_arrays, direction, marker=marker, horizontal=horizontal))

    def unbinarize(self, *, marker: str = "|") -> Tree:
        """Return a tree without the nodes that `binarize` added with this marker: its inverse."""
        from spacy_incparse.transforms.binarize import unbinarize

        return Tree(unbinarize(self.own_arrays, marker=marker))

    def map_labels(self, change: Callable[[str], str] | Mapping[str, str], *, tags: bool = True) -> Tree:
        """Return a tree with labels mapped by a function or a table; labels that are not in the table stay.

        tags: whether POS nodes are changed too.
        """
        if not callable(change):
            check_type("change", change, Mapping, "a function, or a table of labels")
        arrays = self.own_arrays
        return Tree(replace(edits.map_labels(arrays, change, tags=tags), annotation=arrays.annotation))

    @staticmethod
    def from_string(text: str, *, tags: bool = True) -> Tree:
        """Return the tree in a string of Penn-style brackets, unchanged, with raw words.

        tags: whether the brackets have parts of speech. If not, as in `(NP the cat)`, each word gets a POS node X.

        Raises TreebankError with line, column and the expected input unless the string is exactly one tree.
        """
        check_type("text", text, str, "a string of brackets")
        return Tree(parse_one(text, tags=tags))

    @staticmethod
    def from_nltk(tree: nltk.Tree) -> Tree:
        """Return an nltk.Tree as a Tree; see `trees.export.from_nltk`."""
        return Tree(from_nltk(tree))

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Tree:
        """Return the tree in a dict from `to_dict`; see docs/formats.md. Raises IncparseError naming a wrong entry."""
        return Tree(from_dict(data))

    def to_string(self, *, width: int | None = None, ptb: bool = False) -> str:
        """Return the brackets on one line, or with `width` indented: a subtree that fits into it stays on one line.

        Words are raw, with only those characters escaped that would break the brackets; with `ptb` they have the
        spelling of the Penn Treebank.
        """
        check_type("width", width, int | None, "a number of characters, or None")
        return bracket_string(self, width=width, ptb=ptb)

    def pretty(self, width: int = 80) -> str:
        """Return the brackets on indented lines; a subtree that fits into `width` characters stays on one line."""
        return self.to_string(width=width)

    def to_dict(self) -> dict[str, Any]:
        """Return text, tokens and phrases as a JSON-serializable dict; docs/formats.md describes the keys."""
        return to_dict(self)

    def to_nltk(self) -> nltk.Tree:
        """Return an nltk.Tree with the same labels and raw words. Raises ImportError if nltk is not installed."""
        return to_nltk(self)

    def to_latex(self, style: str = "forest") -> str:
        """Return LaTeX code that draws the tree with the package "forest" or "qtree" (also tikz-qtree)."""
        return to_latex(self, style)

    def to_svg(self, **options: Any) -> str:
        """Return a picture of the tree; the options are those of `spacy_incparse.viz.svg.svg`."""
        from spacy_incparse.viz.svg import svg

        return svg(self, **options)

    def draw(self, *, ascii: bool = False, **options: Any) -> str:
        """Return a picture of the tree in characters; the options are those of `spacy_incparse.viz.text_tree.draw`."""
        from spacy_incparse.viz.text_tree import draw

        return draw(self, ascii=ascii, **options)

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
            what = f"({self.label} {self.words[0]}) is a POS node, which has no children"
            what = f"{what}: its word is tree.text, or tree.words[0]"
            raise IndexError(
                f"{self.label} has {len(self)} children, and no child {i}" if len(self) else what
            ) from None

    if not TYPE_CHECKING:  # type checkers can then report unknown attributes

        def __getattr__(self, name: str) -> Any:
            if hasattr(type(self), name):
                return object.__getattribute__(self, name)  # a property failed: raise its own error
            what = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(f"{what}: use {ADVICE[name]}" if name in ADVICE else what, name=name, obj=self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tree) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def _repr_html_(self) -> str:
        # Without this class notebooks render dollar signs in the words as mathematics.
        return f'<div class="tex2jax_ignore" style="overflow-x: auto">{self.to_svg()}</div>'

    def __str__(self) -> str:
        return bracket_string(self)

    def __repr__(self) -> str:
        return f"Tree({str(self)!r})"

    def __reduce__(self):
        arrays = self._arrays
        return _unpickle, (arrays.labels, arrays.sizes, arrays.words, self._index, arrays.annotation)

    def _at(self, index: int) -> Self:
        """Return another node of the same tree; subclasses override this to return nodes of their own class."""
        return Tree(self._arrays, index)  # type: ignore[return-value]  # faster than type(self)(...)

    def _nodes(self) -> range:
        return range(self._index, self._index + self._arrays.sizes[self._index])

    def _index_of(self, node: Any) -> int:
        if isinstance(node, Tree):
            if node._arrays is not self._arrays and node._arrays != self._arrays:
                raise IncparseError(f"{node.label} over {' '.join(node.words)!r} is a node of another tree")
            return node._index
        if not hasattr(node, "__index__"):
            raise IncparseError(f"{node!r} is neither a node of this tree nor the index of a word in its sentence")
        if not 0 <= node < len(self._arrays.words):
            raise IncparseError(
                f"word {node} does not exist: the tree has the words 0 to {len(self._arrays.words) - 1} of its sentence"
            )
        return self._arrays.leaves[node]

    def _key(self) -> tuple[tuple[str, ...], tuple[int, ...], tuple[str, ...]]:
        nodes = slice(self._index, self._index + self.size)
        return self._arrays.labels[nodes], self._arrays.sizes[nodes], self.words


def _unpickle(
    labels: tuple[str, ...],
    sizes: tuple[int, ...],
    words: tuple[str, ...],
    index: int,
    annotation: Annotation | None = None,
) -> Tree:
    return Tree(replace(TreeArrays.of(labels, sizes, words), annotation=annotation), index)


class Trace:
    """An empty category of a tree: no node of it, but a place in one, with its antecedent.

    Equal if they are the same one of the same tree.
    """

    __slots__ = ("_number", "_tree")

    def __init__(self, tree: Tree, number: int):
        self._tree, self._number = tree, number

    @property
    def stored(self) -> Empty:
        """The empty category in numbers, as the tree stores it: parent, position, fragment and antecedent."""
        annotation = self._tree.arrays.annotation
        assert annotation is not None  # else there would be no Trace
        return annotation.empties[self._number]

    @property
    def type(self) -> str:
        """`*`, `*T*`, `0`, `*U*`, `*EXP*`, ...: what the Penn Treebank writes for a word, without its index."""
        return self.stored.type

    @property
    def label(self) -> str:
        """The category of the phrase that has no words, such as "NP"; "-NONE-" if there is none."""
        return bare_label(self.stored.label)

    @property
    def functions(self) -> tuple[str, ...]:
        """The function tags of the phrase that has no words, such as ("SBJ",)."""
        return tuple(filter(None, function_tags(self.stored.label).split("-")))

    @property
    def parent(self) -> Tree:
        """The phrase that it is in."""
        return self._tree._at(self.stored.parent)

    @property
    def position(self) -> int:
        """Number of the parent's children before it."""
        return self.stored.position

    @property
    def start(self) -> int:
        """Index of the word of the sentence before which it stands; the number of words at the end."""
        children = self.parent.children
        return children[self.position].start if self.position < len(children) else children[-1].end

    @property
    def antecedent(self) -> Tree | Trace | None:
        """The node that it stands for, or another empty category; None if it refers to nothing in the tree."""
        stored = self.stored
        if stored.chain is not None:
            return Trace(self._tree, stored.chain)
        return None if stored.antecedent is None else self._tree._at(stored.antecedent)

    @property
    def overt(self) -> Tree | None:
        """The node with words at the end of the chain of antecedents; None if there is none."""
        found = self.antecedent
        while isinstance(found, Trace):
            found = found.antecedent
        return found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trace) and (self._number, self._tree.root) == (other._number, other._tree.root)

    def __hash__(self) -> int:
        return hash((self._number, self._tree.root))

    def __str__(self) -> str:
        return self.stored.fragment

    def __repr__(self) -> str:
        return f"<Trace {self.stored.fragment} in {self.parent.label}>"


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
