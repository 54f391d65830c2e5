"""The public class for trees on a Doc."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spacy.tokens import Doc, Span, Token

from spacy_incparse.documents.confidences import node_confidence
from spacy_incparse.documents.tree_storage import AnchoredTree
from spacy_incparse.trees.tree import Tree


class DocTree(Tree):
    """A node of a sentence's tree on a Doc: a Tree that knows its tokens and its position in the text.

    `start` and `end` count the words of the sentence, as in every Tree; whitespace tokens do not count. `start_char`
    and `end_char` are character offsets in the Doc's text. A node keeps its Doc alive; a pickled copy is a Tree without
    a Doc. The words are those from the time of parsing, even if tokens were merged or split later.
    """

    __slots__ = ("_anchored", "_doc")

    def __init__(self, doc: Doc, anchored: AnchoredTree, index: int = 0):
        self._arrays, self._index = anchored.tree.arrays, index
        self._doc, self._anchored = doc, anchored

    @property
    def doc(self) -> Doc:
        """The Doc."""
        return self._doc

    @property
    def start_char(self) -> int:
        """The offset of the node's first character in the Doc's text."""
        return self._anchored.chars_of(self._index)[0]

    @property
    def end_char(self) -> int:
        """The offset after the node's last character in the Doc's text."""
        return self._anchored.chars_of(self._index)[1]

    @property
    def text(self) -> str:
        """The Doc's text that the node covers."""
        start, end = self._anchored.chars_of(self._index)
        origin = self._anchored.start_char
        return self._anchored.text[start - origin : end - origin]

    @property
    def span(self) -> Span | None:
        """The node's tokens as a Span with the node's label.

        None if tokens were merged after parsing, so that the node begins or ends inside a token.
        """
        start, end = self._anchored.chars_of(self._index)
        return self._doc.char_span(start, end, label=self.label)

    @property
    def tokens(self) -> Sequence[Any]:
        """The tokens of the node without whitespace: one per word, unless tokens were merged or split after parsing."""
        return tuple(token for token in self._covering(*self._anchored.chars_of(self._index)) if not token.is_space)

    @property
    def head(self) -> Token:
        """The token of the node's lexical head, by the head rules of the parser that produced the tree.

        For a given tree (not produced by a parser), the rules for the Doc's language apply. If the head was split
        after parsing, this is its first token.
        """
        word = self._anchored.head_words[self._index]
        start = self._anchored.start_char + self._anchored.char_starts[word]
        return self._covering(start, start + 1)[0]

    @property
    def score(self) -> float | None:
        """The score of the whole tree: a sum of weights, only comparable between trees of the same sentence.

        None for a given tree, which no parser produced.
        """
        return self._anchored.score

    @property
    def source(self) -> str:
        """The source of the whole tree: "beam", "chart", "relaxed" or "flat" (docs/output.md); "" for a given tree."""
        return self._anchored.source

    @property
    def confidence(self) -> float | None:
        """The probability that the whole tree is right; below the root, that a phrase with this label has these words.

        It is the weighted share of the sentence's analyses (`doc._.parses`) that contain this tree or phrase. It is
        only as reliable as the model's scores (benchmarks/RESULTS.md reports the error). None for POS nodes, and if the
        parser failed or parsed the sentence in several charts, piece by piece. Raises IncparseError if the analyses are
        not stored on the Doc and no pipeline in this process produces its trees, or if the model has no temperature.
        """
        return node_confidence(self._doc, self._anchored, self._index)

    def _covering(self, start_char: int, end_char: int) -> Span:
        span = self._doc.char_span(start_char, end_char, alignment_mode="expand")
        assert span is not None  # trees are only decoded for characters within the Doc
        return span

    def _at(self, index: int) -> DocTree:
        return DocTree(self._doc, self._anchored, index)
