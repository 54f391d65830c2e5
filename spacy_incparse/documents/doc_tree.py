"""Trees as users meet them on a Doc."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spacy.tokens import Doc, Span, Token

from spacy_incparse.documents.confidences import node_confidence
from spacy_incparse.documents.tree_storage import AnchoredTree
from spacy_incparse.trees.tree import Tree


class DocTree(Tree):
    """A node of a sentence's tree on a Doc: a Tree that knows its tokens and its place in the text.

    `start` and `end` count the words of the sentence, as on every Tree: whitespace tokens are none. `start_char` and
    `end_char` count the characters of the Doc's text. A node keeps its Doc alive; a copy by pickle is a Tree without a
    Doc. The words stay what they were when the Doc was parsed, also where its tokens were merged or split since.
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
        """First character of the node in the text of the Doc."""
        return self._anchored.chars_of(self._index)[0]

    @property
    def end_char(self) -> int:
        """One behind the last character of the node in the text of the Doc."""
        return self._anchored.chars_of(self._index)[1]

    @property
    def text(self) -> str:
        """The text that the node covers, as it stands in the Doc."""
        start, end = self._anchored.chars_of(self._index)
        origin = self._anchored.start_char
        return self._anchored.text[start - origin : end - origin]

    @property
    def span(self) -> Span | None:
        """The node's tokens as a Span with the node's label.

        None where tokens were merged since the Doc was parsed, so that the node begins or ends inside of one.
        """
        start, end = self._anchored.chars_of(self._index)
        return self._doc.char_span(start, end, label=self.label)

    @property
    def tokens(self) -> Sequence[Any]:
        """The tokens that the node has words of, whitespace left out: one for a word, unless merged or split since."""
        return tuple(token for token in self._covering(*self._anchored.chars_of(self._index)) if not token.is_space)

    @property
    def head(self) -> Token:
        """The token of the node's lexical head, by the head rules of the parser that made the tree.

        A tree that was not parsed but given has the rules for the Doc's language. Where the head was split since, it is
        the first of its tokens.
        """
        word = self._anchored.head_words[self._index]
        start = self._anchored.start_char + self._anchored.char_starts[word]
        return self._covering(start, start + 1)[0]

    @property
    def score(self) -> float | None:
        """The score of the whole tree: a sum of weights, good for comparing trees of one sentence.

        None where the tree was not parsed but given.
        """
        return self._anchored.score

    @property
    def source(self) -> str:
        """Where the whole tree is from: "beam", "relaxed" or "flat" (docs/output.md); "" where it was given."""
        return self._anchored.source

    @property
    def confidence(self) -> float | None:
        """The probability that the whole tree is right; below the root, that a phrase of this label has these words.

        It is the share of the sentence's analyses (`doc._.parses`) that have this tree or phrase, each with its weight;
        a probability as far as the model's scores are (benchmarks/RESULTS.md has the error). None at POS nodes, and
        where the parser failed. Raises IncparseError where the analyses are not on the Doc and no pipeline in this
        process gives its trees, or the model has no temperature.
        """
        return node_confidence(self._doc, self._anchored, self._index)

    def _covering(self, start_char: int, end_char: int) -> Span:
        span = self._doc.char_span(start_char, end_char, alignment_mode="expand")
        assert span is not None  # no tree is decoded for characters that the Doc has not
        return span

    def _at(self, index: int) -> DocTree:
        return DocTree(self._doc, self._anchored, index)
