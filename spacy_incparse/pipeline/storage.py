"""Trees in `Doc.user_data`: written once a sentence, decoded when somebody looks.

The key is that of the Span attribute `ATTRIBUTE` of the sentence, with its character offsets: spaCy shifts and copies
such keys where it cuts or joins Docs. Decoded trees are cached by the stored string, and hold no Doc.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

from spacy.tokens import Doc, Span

from spacy_incparse.trees.codec import decode
from spacy_incparse.trees.tree import Tree

ATTRIBUTE = "incparse"

Key = tuple[str, str, int, int]


@dataclass(frozen=True)
class AnchoredTree:
    """A sentence's tree and the characters that its leaves stand on; leaf i of the tree is word i of `tree.words`."""

    tree: Tree
    start_char: int  # of the sentence in the Doc
    end_char: int
    char_starts: tuple[int, ...]  # of each leaf, from the first character of the sentence
    char_ends: tuple[int, ...]
    score: float | None
    source: str  # "beam", "relaxed", "flat", or "" for a tree that was not parsed but given

    @cached_property
    def nodes_by_span(self) -> dict[tuple[int, int], int]:
        """(first character, one behind the last) from the sentence's start -> the highest node that has just these."""
        nodes: dict[tuple[int, int], int] = {}
        arrays = self.tree.arrays
        for index, (start, end) in enumerate(zip(arrays.starts, arrays.ends, strict=True)):
            nodes.setdefault((self.char_starts[start], self.char_ends[end - 1]), index)
        return nodes

    def node_at(self, start_char: int, end_char: int) -> Tree | None:
        """Return the highest node over exactly these characters of the Doc, or None."""
        index = self.nodes_by_span.get((start_char - self.start_char, end_char - self.start_char))
        return None if index is None else Tree(self.tree.arrays, index)


_cache: WeakKeyDictionary[Doc, dict[Key, tuple[str, AnchoredTree]]] = WeakKeyDictionary()


def write_tree(doc: Doc, start_char: int, end_char: int, value: str) -> None:
    """Store what `trees.codec.encode` made of the tree of the sentence at these characters of the Doc."""
    _user_data(doc)["._.", ATTRIBUTE, start_char, end_char] = value


def clear_trees(doc: Doc) -> None:
    """Remove all trees from the Doc."""
    for key in _keys(doc):
        del _user_data(doc)[key]


def anchored_trees(doc: Doc) -> list[AnchoredTree]:
    """Return the trees of the Doc in the order of its text."""
    trees = [_anchored(doc, key) for key in sorted(_keys(doc), key=lambda key: key[2:])]
    return [tree for tree in trees if tree is not None]


def anchored_tree_over(span: Span) -> AnchoredTree | None:
    """Return the tree of the sentence that the span lies in, or None."""
    doc = span.doc
    if doc.has_annotation("SENT_START"):
        sentence = span.sent
        found = _anchored(doc, ("._.", ATTRIBUTE, sentence.start_char, sentence.end_char))
        if found is not None:
            return found
    # Sentence bounds may have been set anew since the Doc was parsed: then the characters tell.
    for key in _keys(doc):
        if key[2] <= span.start_char and span.end_char <= key[3]:
            return _anchored(doc, key)
    return None


def _user_data(doc: Doc) -> dict[Any, Any]:
    return doc.user_data  # spaCy declares str as its keys, and uses tuples


def _keys(doc: Doc) -> list[Key]:
    return [
        key for key in _user_data(doc) if isinstance(key, tuple) and key[:2] == ("._.", ATTRIBUTE) and None not in key
    ]


def _anchored(doc: Doc, key: Key) -> AnchoredTree | None:
    value = _user_data(doc).get(key)
    if value is None:
        return None
    cached = _cache.setdefault(doc, {})
    if key not in cached or cached[key][0] != value:
        tree = _decode(doc, key, value)
        if tree is None:
            return None
        cached[key] = value, tree
    return cached[key][1]


def _decode(doc: Doc, key: Key, value: str) -> AnchoredTree | None:
    _, _, start_char, end_char = key
    text = _text(doc, start_char, end_char)
    if text is None:
        return None
    stored = decode(value)
    tree = stored.tree(text)
    return AnchoredTree(tree, start_char, end_char, stored.char_starts, stored.char_ends, stored.score, stored.source)


def _text(doc: Doc, start_char: int, end_char: int) -> str | None:
    """Return these characters of the Doc without building its whole text; None where it has not so many.

    `Span.as_doc` keeps the trees of sentences that are cut off, with offsets before or behind the new Doc.
    """
    if start_char < 0 or end_char > doc[-1].idx + len(doc[-1]):
        return None
    span = doc.char_span(start_char, end_char, alignment_mode="expand")
    if span is None or start_char < span.start_char or span.end_char < end_char:
        return None
    return span.text[start_char - span.start_char : end_char - span.start_char]
