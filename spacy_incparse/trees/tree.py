"""Immutable phrase-structure trees for users: nodes with conversions, edits and pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from spacy_incparse.trees import edits
from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.brackets import bracket_string, parse_one
from spacy_incparse.trees.dicts import from_dict, to_dict
from spacy_incparse.trees.export import from_nltk, to_latex, to_nltk
from spacy_incparse.trees.labels import TRACE_TAG, bare_label
from spacy_incparse.trees.node import TreeNode

if TYPE_CHECKING:
    import nltk
    from typing_extensions import Self


class Tree(TreeNode):
    """A node of a phrase-structure tree with everything below it.

    Phrases and POS nodes are nodes, words are not: a POS node covers its word and has no children. `label` is a
    string, not a method; at a POS node it is the tag. `words` are the words, `len(tree)` counts children.

    Nodes are equal if their labels, shape and words are equal, wherever they are in their trees. `start` and `end`
    count the words of the whole tree, including traces that have not been removed. Without a Doc, the text of a tree
    is its words joined by single spaces.
    """

    __slots__ = ()

    def strip_functions(self) -> Tree:
        """Return a tree whose labels are categories: NP-SBJ-1 becomes NP."""
        return Tree(edits.map_labels(self.own_arrays, bare_label))

    def remove_empties(self) -> Tree | None:
        """Return a tree without traces (-NONE-) and phrases that have no other words; None if nothing is left."""
        kept = edits.without_tag(self.own_arrays, TRACE_TAG)
        return None if kept is None else Tree(kept)

    def collapse_unaries(self, joint: str = "+", *, root: bool = False, tags: bool = False) -> Tree:
        """Return a tree in which a phrase over a single phrase is one node with both labels: S over VP is S+VP.

        root: join the top node too; tags: join a phrase with its POS node if that is its only child.
        """
        return Tree(edits.collapse_unaries(self.own_arrays, joint, root=root, tags=tags))

    def expand_unaries(self, joint: str = "+") -> Tree:
        """Return a tree with one node for each part of a joint label: the inverse of `collapse_unaries`."""
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
        return Tree(edits.map_labels(self.own_arrays, change, tags=tags))

    @staticmethod
    def from_string(text: str, *, tags: bool = True) -> Tree:
        """Return the tree in a string of Penn-style brackets, unchanged, with raw words.

        tags: whether the brackets have parts of speech. If not, as in `(NP the cat)`, each word gets a POS node X.

        Raises TreebankError with line, column and the expected input unless the string is exactly one tree.
        """
        return Tree(parse_one(text, tags=tags))

    @staticmethod
    def from_nltk(tree: nltk.Tree) -> Tree:
        """Return an nltk.Tree as a Tree; see `trees.nltk_trees.from_nltk`."""
        return Tree(from_nltk(tree))

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Tree:
        """Return the tree in a dict from `to_dict`; keys: docs/output.md. Raises IncparseError naming a wrong entry."""
        return Tree(from_dict(data))

    def to_string(self, *, width: int | None = None, ptb: bool = False) -> str:
        """Return the brackets on one line, or with `width` indented: a subtree that fits into it stays on one line.

        Words are raw, with only those characters escaped that would break the brackets; with `ptb` they have the
        spelling of the Penn Treebank.
        """
        return bracket_string(self, width=width, ptb=ptb)

    def pretty(self, width: int = 80) -> str:
        """Return the brackets on indented lines; a subtree that fits into `width` characters stays on one line."""
        return bracket_string(self, width=width)

    def to_dict(self) -> dict[str, Any]:
        """Return text, tokens and phrases as a JSON-serializable dict; docs/output.md describes the keys."""
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
        return _unpickle, (arrays.labels, arrays.sizes, arrays.words, self._index)

    def _at(self, index: int) -> Self:
        return Tree(self._arrays, index)  # type: ignore[return-value]  # faster than type(self)(...)


def _unpickle(labels: tuple[str, ...], sizes: tuple[int, ...], words: tuple[str, ...], index: int) -> Tree:
    return Tree(TreeArrays.of(labels, sizes, words), index)
