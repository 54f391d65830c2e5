"""Immutable phrase-structure trees, as users see them: nodes, with their conversions, edits and pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from spacy_incparse.trees import edits
from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.bracket_parser import parse_one
from spacy_incparse.trees.bracket_strings import bracket_string
from spacy_incparse.trees.dicts import from_dict, to_dict
from spacy_incparse.trees.labels import TRACE_TAG, bare_label
from spacy_incparse.trees.latex import to_latex
from spacy_incparse.trees.nltk_trees import from_nltk, to_nltk
from spacy_incparse.trees.tree_node import TreeNode

if TYPE_CHECKING:
    import nltk
    from typing_extensions import Self


class Tree(TreeNode):
    """A node of a phrase-structure tree with everything below it.

    Phrases and POS nodes are nodes, words are not: a POS node covers its word, and has no children. `label` is a
    string, no method; at a POS node it is the tag. `words` are the words, `len(tree)` counts children.

    Nodes compare equal if labels, shape and words are equal, wherever they stand in their own tree. `start` and `end`
    count the words of the whole tree, including traces if these are still in the tree. Without a Doc, the text of a
    tree is its words joined by single spaces.
    """

    __slots__ = ()

    def strip_functions(self) -> Tree:
        """Return a tree whose labels are categories: NP-SBJ-1 becomes NP."""
        return Tree(edits.map_labels(self.own_arrays, bare_label))

    def remove_empties(self) -> Tree | None:
        """Return a tree without traces (-NONE-) and phrases that have no other words; None where nothing is left."""
        kept = edits.without_tag(self.own_arrays, TRACE_TAG)
        return None if kept is None else Tree(kept)

    def collapse_unaries(self, joint: str = "+", *, root: bool = False, tags: bool = False) -> Tree:
        """Return a tree in which a phrase over a single phrase is one node with both labels: S over VP is S+VP.

        root: join the top node too; tags: join phrases and the POS nodes that are all they have.
        """
        return Tree(edits.collapse_unaries(self.own_arrays, joint, root=root, tags=tags))

    def expand_unaries(self, joint: str = "+") -> Tree:
        """Return a tree with one node for each part of a joint label: the inverse of `collapse_unaries`."""
        return Tree(edits.expand_unaries(self.own_arrays, joint))

    def binarize(self, direction: str = "right", *, marker: str = "|", horizontal: int | None = None) -> Tree:
        """Return a tree with at most two children a node; see `transforms.binarize.binarize`."""
        from spacy_incparse.transforms.binarize import binarize

        return Tree(binarize(self.own_arrays, direction, marker=marker, horizontal=horizontal))

    def unbinarize(self, *, marker: str = "|") -> Tree:
        """Return a tree without the nodes that `binarize` with this marker has put in: its inverse."""
        from spacy_incparse.transforms.binarize import unbinarize

        return Tree(unbinarize(self.own_arrays, marker=marker))

    def map_labels(self, change: Callable[[str], str] | Mapping[str, str], *, tags: bool = True) -> Tree:
        """Return a tree with other labels, from a function or a table; labels that are not in a table stay.

        tags: whether POS nodes are changed too.
        """
        return Tree(edits.map_labels(self.own_arrays, change, tags=tags))

    @staticmethod
    def from_string(text: str, *, tags: bool = True) -> Tree:
        """Return the tree in a string of Penn-style brackets, as it stands, with raw words.

        tags: whether the brackets have parts of speech. If not, as in `(NP the cat)`, each word gets a POS node X.

        Raises TreebankError with line, column and what was expected where the string is no tree, or more than one.
        """
        return Tree(parse_one(text, tags=tags))

    @staticmethod
    def from_nltk(tree: nltk.Tree) -> Tree:
        """Return the tree that an nltk.Tree is; see `trees.nltk_trees.from_nltk`."""
        return Tree(from_nltk(tree))

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Tree:
        """Return the tree that `to_dict` described; docs/output.md has the keys. IncparseError names a wrong one."""
        return Tree(from_dict(data))

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
        return to_dict(self)

    def to_nltk(self) -> nltk.Tree:
        """Return an nltk.Tree with the same labels and raw words. Raises ImportError where nltk is not installed."""
        return to_nltk(self)

    def to_latex(self, style: str = "forest") -> str:
        """Return LaTeX code that draws the tree, for the package "forest" or "qtree" (also tikz-qtree)."""
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
