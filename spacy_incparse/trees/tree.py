"""Immutable phrase-structure trees: views on flat arrays."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from spacy_incparse.trees import walks
from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.bracket_strings import bracket_string
from spacy_incparse.trees.labels import bare_label, function_tags
from spacy_incparse.trees.walks import Production

if TYPE_CHECKING:
    import nltk


class Tree:
    """A node of a phrase-structure tree with all that is below it.

    Phrases and POS nodes are nodes, words are not: they are what a POS node covers. Nodes compare equal where labels,
    shape and words are equal, wherever they stand in their own tree. `start` and `end` count the words of the whole
    tree, also those of traces where these are still in the tree. Without a Doc the text of a tree is its words with
    single blanks between them.
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
        """The whole label as it stands in the tree, such as "NP" or "NP-SBJ-1"; at a POS node the tag."""
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
    def tag(self) -> str | None:
        """The label of a POS node; None at a phrase."""
        return self.label if self.is_leaf else None

    @property
    def start(self) -> int:
        """Index of the first word under the node."""
        return self._arrays.starts[self._index]

    @property
    def end(self) -> int:
        """One behind the index of the last word under the node."""
        return self._arrays.ends[self._index]

    @property
    def start_char(self) -> int:
        """First character of the node in the text of the whole tree."""
        return self._arrays.word_offsets[self.start]

    @property
    def end_char(self) -> int:
        """One behind the last character of the node in the text of the whole tree."""
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
        """What the POS nodes under the node cover: its words, on a Doc its tokens."""
        return self.words

    @property
    def tags(self) -> tuple[str, ...]:
        """The labels of the POS nodes under the node, one a word."""
        arrays = self._arrays
        return tuple(arrays.labels[leaf] for leaf in arrays.leaves[self.start : self.end])

    @property
    def size(self) -> int:
        """Number of nodes from here down, this one and the POS nodes included."""
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
        """Whether the node has no children; as words are no nodes, POS nodes are the leaves."""
        return self._arrays.sizes[self._index] == 1

    @property
    def is_preterminal(self) -> bool:
        """Whether this is a POS node: it has one word and no children."""
        return self.is_leaf

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
    def siblings(self) -> tuple[Tree, ...]:
        """The other children of the parent, from left to right; () at the root."""
        above = self._arrays.parents[self._index]
        nodes = walks.children(self._arrays, above) if above >= 0 else ()
        return tuple(self._at(node) for node in nodes if node != self._index)

    @property
    def root(self) -> Tree:
        """The top node of the whole tree."""
        return self._at(0)

    def leaves(self) -> tuple[Tree, ...]:
        """Return the POS nodes from left to right."""
        return tuple(map(self._at, self._arrays.leaves[self.start : self.end]))

    def preterminals(self) -> Iterator[Tree]:
        """Yield the POS nodes from left to right."""
        return iter(self.leaves())

    def preorder(self) -> Iterator[Tree]:
        """Yield this node and all below it, parents before children, left to right."""
        return map(self._at, self._nodes())

    def postorder(self) -> Iterator[Tree]:
        """Yield this node and all below it, children before parents, left to right."""
        return map(self._at, walks.postorder(self._arrays, self._index))

    def subtrees(
        self, label: str | Collection[str] | None = None, where: Callable[[Tree], bool] | None = None
    ) -> Iterator[Tree]:
        """Yield this node and those below it, POS nodes too, in pre-order: all, or those that are asked for.

        label: one label or several, each a whole label ("NP-SBJ") or a category ("NP").
        where: a function of a node that tells whether to yield it.
        """
        nodes = map(self._at, walks.labelled(self._arrays, self._nodes(), label))
        return nodes if where is None else filter(where, nodes)

    def phrases(self, label: str | Collection[str] | None = None, nested: str = "all") -> tuple[Tree, ...]:
        """Return the phrases from this node down, POS nodes not included, in pre-order; `label` is as in `subtrees`.

        nested: "all"; "outermost": those that are inside no other one of them; "innermost": those with no other one
        inside.
        """
        arrays = self._arrays
        phrases = [node for node in self._nodes() if arrays.sizes[node] > 1]
        return tuple(map(self._at, walks.without_nested(arrays, walks.labelled(arrays, phrases, label), nested)))

    def lca(self, a: Tree | int, b: Tree | int) -> Tree:
        """Return the lowest node that covers both, given as nodes of this tree or as indices of words.

        Raises ValueError where one is not of this tree.
        """
        return self._at(walks.lowest_common(self._arrays, self._index_of(a), self._index_of(b)))

    def path(self, a: Tree | int, b: Tree | int) -> tuple[Tree, ...]:
        """Return the nodes from the first up to the lowest common one and down to the second; `a`, `b` as for `lca`."""
        return tuple(map(self._at, walks.path(self._arrays, self._index_of(a), self._index_of(b))))

    def spans(self) -> list[tuple[str, int, int]]:
        """Return (label, start, end) of all phrases in pre-order; POS nodes are no phrases."""
        arrays, nodes = self._arrays, slice(self._index, self._index + self.size)
        fields = zip(arrays.labels[nodes], arrays.starts[nodes], arrays.ends[nodes], arrays.sizes[nodes], strict=True)
        return [(label, start, end) for label, start, end, size in fields if size > 1]

    def productions(self) -> list[Production]:
        """Return the production of each node in pre-order: NP -> DT NN, DT -> 'the'."""
        return list(walks.productions(self._arrays, self._index))

    def strip_functions(self) -> Tree:
        """Return a tree whose labels are categories: NP-SBJ-1 becomes NP."""
        from spacy_incparse.treebanks.normalize import strip_functions

        return strip_functions(self)

    def remove_empties(self) -> Tree | None:
        """Return a tree without traces (-NONE-) and phrases that have no other words; None where nothing is left."""
        from spacy_incparse.treebanks.normalize import drop_empties

        return drop_empties(self)

    def collapse_unaries(self, joint: str = "+", *, root: bool = False, tags: bool = False) -> Tree:
        """Return a tree in which a phrase over a single phrase is one node with both labels: S over VP is S+VP.

        root: join the top node too; tags: join phrases and the POS nodes that are all they have.
        """
        from spacy_incparse.trees.edits import collapse_unaries

        return collapse_unaries(self, joint, root=root, tags=tags)

    def expand_unaries(self, joint: str = "+") -> Tree:
        """Return a tree with one node for each part of a joint label: the inverse of `collapse_unaries`."""
        from spacy_incparse.trees.edits import expand_unaries

        return expand_unaries(self, joint)

    def binarize(self, direction: str = "right", *, marker: str = "|", horizontal: int | None = None) -> Tree:
        """Return a tree with at most two children a node; see `trees.binarize.binarize`."""
        from spacy_incparse.transforms.binarize import binarize

        return binarize(self, direction, marker=marker, horizontal=horizontal)

    def unbinarize(self, *, marker: str = "|") -> Tree:
        """Return a tree without the nodes that `binarize` with this marker has put in: its inverse."""
        from spacy_incparse.transforms.binarize import unbinarize

        return unbinarize(self, marker=marker)

    def map_labels(self, change: Callable[[str], str] | Mapping[str, str], *, tags: bool = True) -> Tree:
        """Return a tree with other labels, from a function or a table; labels that are not in a table stay.

        tags: whether POS nodes are changed too.
        """
        from spacy_incparse.trees.edits import map_labels

        return map_labels(self, change, tags=tags)

    @staticmethod
    def from_string(text: str) -> Tree:
        """Return the tree in a string of Penn-style brackets, as it stands, with raw words.

        Raises TreebankError with line, column and what was expected where the string is no tree, or more than one.
        """
        from spacy_incparse.treebanks.penn_reader import parse_one

        return parse_one(text)

    @staticmethod
    def from_nltk(tree: nltk.Tree) -> Tree:
        """Return the tree that an nltk.Tree is; see `trees.nltk_trees.from_nltk`."""
        from spacy_incparse.trees.nltk_trees import from_nltk

        return from_nltk(tree)

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Tree:
        """Return the tree that `to_dict` described; docs/output.md has the keys. IncparseError names a wrong one."""
        from spacy_incparse.trees.dicts import from_dict

        return from_dict(data)

    def to_string(self, *, width: int | None = None, ptb: bool = False) -> str:
        """Return the brackets: on one line, or indented so that what fits into `width` characters stays on a line.

        Words are raw, with only those characters escaped that would break the brackets; with `ptb` as the Penn
        Treebank spells them.
        """
        return bracket_string(self, width=width, ptb=ptb)

    def pretty(self, width: int = 80) -> str:
        """Return the brackets over indented lines: what fits into `width` characters stays on one line."""
        return bracket_string(self, width=width)

    def to_dict(self) -> dict[str, Any]:
        """Return text, tokens and phrases as JSON has them; docs/output.md describes the keys."""
        from spacy_incparse.trees.dicts import to_dict

        return to_dict(self)

    def to_nltk(self) -> nltk.Tree:
        """Return an nltk.Tree with the same labels and raw words. Raises ImportError where nltk is not installed."""
        from spacy_incparse.trees.nltk_trees import to_nltk

        return to_nltk(self)

    def to_latex(self, style: str = "forest") -> str:
        """Return LaTeX code that draws the tree, for the package "forest" or "qtree" (also tikz-qtree)."""
        from spacy_incparse.trees.latex import to_latex

        return to_latex(self, style)

    def to_svg(self, **options: Any) -> str:
        """Return a picture of the tree; the options are those of `spacy_incparse.viz.svg.svg`."""
        from spacy_incparse.viz.svg import svg

        return svg(self, **options)

    def draw(self, *, ascii: bool = False, **options: Any) -> str:
        """Return a picture of the tree in characters; the options are those of `spacy_incparse.viz.text_tree.draw`."""
        from spacy_incparse.viz.text_tree import draw

        return draw(self, ascii=ascii, **options)

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def _repr_html_(self) -> str:
        # Without this class notebooks take dollars in the words for mathematics.
        return f'<div class="tex2jax_ignore" style="overflow-x: auto">{self.to_svg()}</div>'

    def __iter__(self) -> Iterator[Tree]:
        return map(self._at, walks.children(self._arrays, self._index))

    def __len__(self) -> int:
        return sum(1 for _ in walks.children(self._arrays, self._index))

    def __bool__(self) -> bool:
        return True  # a POS node has length 0, and is a tree all the same

    def __getitem__(self, i: int) -> Tree:
        return self.children[i]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tree) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __str__(self) -> str:
        return bracket_string(self)

    def __repr__(self) -> str:
        return f"Tree({str(self)!r})"

    def __reduce__(self):
        arrays = self._arrays
        return _unpickle, (arrays.labels, arrays.sizes, arrays.words, self._index)

    def _at(self, index: int) -> Tree:
        """Return another node of the same tree; a subclass overrides it, so that its nodes stay of its kind."""
        return Tree(self._arrays, index)

    def _nodes(self) -> range:
        return range(self._index, self._index + self._arrays.sizes[self._index])

    def _index_of(self, node: Tree | int) -> int:
        if isinstance(node, Tree):
            if node._arrays is not self._arrays and node._arrays != self._arrays:
                raise ValueError(f"{node.label} over {' '.join(node.words)!r} is a node of another tree")
            return node._index
        if not 0 <= node < len(self._arrays.words):
            raise ValueError(f"there is no word {node}: the tree has the words 0 to {len(self._arrays.words) - 1}")
        return self._arrays.leaves[node]

    def _key(self) -> tuple[tuple[str, ...], tuple[int, ...], tuple[str, ...]]:
        nodes = slice(self._index, self._index + self.size)
        return self._arrays.labels[nodes], self._arrays.sizes[nodes], self.words


def _unpickle(labels: tuple[str, ...], sizes: tuple[int, ...], words: tuple[str, ...], index: int) -> Tree:
    return Tree(TreeArrays.of(labels, sizes, words), index)
