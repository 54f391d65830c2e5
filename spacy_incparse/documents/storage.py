"""Trees on a Doc, decoded on first access and cached.

Decoded trees are cached by the stored string and hold no reference to the Doc; only the public nodes (DocTree) do.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

from spacy.tokens import Doc, Span

from spacy_incparse.documents.mirror import lost_trees, remove_mirrors
from spacy_incparse.documents.stored_fields import stored_head_words
from spacy_incparse.documents.user_data import ATTRIBUTE, Key, key_of, keys, user_data, write_tree
from spacy_incparse.errors import IncparseError
from spacy_incparse.trees.arrays import lowest_common
from spacy_incparse.trees.codec import StoredTree, decode
from spacy_incparse.trees.tree import Tree

__all__ = ["ATTRIBUTE", "AnchoredTree", "anchored_tree_over", "anchored_trees", "clear_trees", "write_tree"]


@dataclass(frozen=True, eq=False)
class AnchoredTree:
    """A sentence's tree and the character offsets of its leaves; leaf i of the tree is word i of `tree.words`."""

    tree: Tree
    text: str  # of the sentence
    start_char: int  # of the sentence in the Doc
    end_char: int
    char_starts: tuple[int, ...]  # of each leaf, from the first character of the sentence
    char_ends: tuple[int, ...]
    score: float | None
    source: str  # "beam", "chart", "relaxed", "flat", or "" for a given tree, which no parser produced
    language: str = ""  # of the Doc
    more: tuple[str, ...] = ()  # further fields, each NAME=VALUE

    @cached_property
    def nodes_by_span(self) -> dict[tuple[int, int], int]:
        """(start, end) in characters from the sentence's start -> the highest node that covers exactly these."""
        nodes: dict[tuple[int, int], int] = {}
        arrays = self.tree.arrays
        for index, (start, end) in enumerate(zip(arrays.starts, arrays.ends, strict=True)):
            nodes.setdefault((self.char_starts[start], self.char_ends[end - 1]), index)
        return nodes

    @cached_property
    def head_words(self) -> tuple[int, ...]:
        """The lexical head of each node, as the index of a word."""
        try:
            return stored_head_words(self.tree.arrays, self.more, self.language)
        except ValueError as error:
            raise IncparseError(f"the stored heads are damaged: {error}") from None

    def node_at(self, start_char: int, end_char: int) -> int | None:
        """Return the index of the highest node over exactly these characters of the Doc, or None."""
        return self.nodes_by_span.get((start_char - self.start_char, end_char - self.start_char))

    def path_to(self, start_char: int, end_char: int) -> list[int]:
        """Return the nodes that cover these characters of the Doc, from the root down; [] if there are none."""
        arrays = self.tree.arrays
        start, end = start_char - self.start_char, end_char - self.start_char
        first = bisect_right(self.char_starts, start) - 1
        last = bisect_left(self.char_ends, end)
        if first < 0 or last == len(self.char_ends):
            return []
        node = lowest_common(arrays, arrays.leaves[min(first, last)], arrays.leaves[max(first, last)])
        path = [node]
        while arrays.parents[path[-1]] >= 0:
            path.append(arrays.parents[path[-1]])
        return path[::-1]

    def chars_of(self, index: int) -> tuple[int, int]:
        """Return the start and end offset of a node's characters in the Doc."""
        arrays = self.tree.arrays
        start, end = self.char_starts[arrays.starts[index]], self.char_ends[arrays.ends[index] - 1]
        return self.start_char + start, self.start_char + end


_cache: WeakKeyDictionary[Doc, dict[Key, tuple[str, AnchoredTree]]] = WeakKeyDictionary()


def clear_trees(doc: Doc) -> None:
    """Remove all trees from the Doc, and the groups of `doc.spans` that mirror them."""
    for key in keys(doc):
        del user_data(doc)[key]
    remove_mirrors(doc)


def anchored_trees(doc: Doc) -> list[AnchoredTree]:
    """Return the trees of the Doc in text order. Raises IncparseError if a stored string cannot be read."""
    values, cut = stored_trees(doc), _WholeText(doc)
    trees = [_anchored(doc, key, values[key], cut) for key in sorted(values, key=lambda key: key[2:])]
    return [tree for tree in trees if tree is not None]


def stored_trees(doc: Doc) -> dict[Key, str]:
    """Return the strings that store the Doc's trees: those of its user data, and those that only a mirror still has."""
    values = {key: user_data(doc)[key] for key in keys(doc)}
    return lost_trees(doc) | values if doc.spans else values


def anchored_tree_over(span: Span) -> AnchoredTree | None:
    """Return the tree of the sentence that contains the span, or None. Raises IncparseError as in `anchored_trees`."""
    doc = span.doc
    lost = lost_trees(doc) if doc.spans else {}  # there may be a mirror
    if doc.has_annotation("SENT_START"):
        sentence = span.sent
        key = key_of(sentence.start_char, sentence.end_char)
        value = user_data(doc).get(key) or lost.get(key)
        found = None if value is None else _anchored(doc, key, value)
        if found is not None:
            return found
    # Sentence boundaries may have changed since parsing: find the tree by its characters.
    for key, value in stored_trees(doc).items():
        if key[2] <= span.start_char and span.end_char <= key[3]:
            return _anchored(doc, key, value)
    return None


def _anchored(doc: Doc, key: Key, value: str, cut: Callable[[int, int], str] | None = None) -> AnchoredTree | None:
    cached = _cache.setdefault(doc, {})
    if key not in cached or cached[key][0] != value:
        tree = _decode(doc, key, value, cut)
        if tree is None:
            return None
        cached[key] = value, tree
    return cached[key][1]


def _decode(doc: Doc, key: Key, value: str, cut: Callable[[int, int], str] | None) -> AnchoredTree | None:
    _, _, start_char, end_char = key
    # `Span.as_doc` also keeps the trees of sentences outside the span, with offsets before or after the new Doc.
    if start_char < 0 or not len(doc) or end_char > doc[-1].idx + len(doc[-1]):
        return None
    text = cut(start_char, end_char) if cut else _text(doc, start_char, end_char)
    if text is None:
        return None
    stored = decode(value)
    if _is_of_another_text(doc, start_char, text, stored):
        return None
    return AnchoredTree(
        stored.tree(text), text, start_char, end_char, stored.char_starts, stored.char_ends, stored.score,
        stored.source, doc.lang_, stored.more,
    )  # fmt: skip


def _is_of_another_text(doc: Doc, origin: int, text: str, stored: StoredTree) -> bool:
    """Return whether some word begins or ends with white space, where no token does.

    `Doc.from_docs` moves the trees of sentences outside a span, which `Span.as_doc` has kept, over other text.
    """
    return any(
        (text[start : start + 1].isspace() or text[end - 1 : end].isspace())
        and doc.char_span(origin + start, origin + end) is None
        for start, end in zip(stored.char_starts, stored.char_ends, strict=True)
    )


class _WholeText:
    """Return slices of a Doc's text, which is assembled once, on the first call."""

    def __init__(self, doc: Doc):
        self._doc, self._text = doc, ""

    def __call__(self, start_char: int, end_char: int) -> str:
        self._text = self._text or self._doc.text
        return self._text[start_char:end_char]


def _text(doc: Doc, start_char: int, end_char: int) -> str | None:
    """Return these characters of the Doc without assembling its whole text; None if no tokens cover them."""
    span = doc.char_span(start_char, end_char, alignment_mode="expand")
    if span is None or start_char < span.start_char or span.end_char < end_char:
        return None
    return span.text[start_char - span.start_char : end_char - span.start_char]
