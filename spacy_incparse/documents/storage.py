"""Trees on a Doc: strings, one per sentence; mirrored in `doc.spans` on request; decoded when they are read."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import Any, cast
from weakref import WeakKeyDictionary

import numpy as np
import srsly
from spacy.attrs import IDX
from spacy.tokens import Doc, Span, SpanGroup

from spacy_incparse.documents.live_parsers import live_components
from spacy_incparse.documents.sentences import SPAN, Sentence, split_sentences
from spacy_incparse.errors import IncparseError
from spacy_incparse.tokens import penn_to_raw
from spacy_incparse.treebanks.reader import normalized_tree
from spacy_incparse.trees.arrays import lowest_common
from spacy_incparse.trees.builder import make_tree, tree_of_phrases
from spacy_incparse.trees.codec import decode, encode, stored_head_words
from spacy_incparse.trees.export import checked_spans
from spacy_incparse.trees.labels import ROOT, UNKNOWN_TAG
from spacy_incparse.trees.tree import Tree

ATTRIBUTE, MEASURES = "incparse", "incparse_measures"  # names of Span attributes
MARK = "incparse"  # the id of a span in a mirror is this mark, a colon and the number of phrases in the sentence

Key = tuple[str, str, int, int]
Stored = tuple[int, int, str]  # start and end character of a sentence, and the string that stores its tree


def write_tree(doc: Doc, start_char: int, end_char: int, value: str, measures: str | None = None) -> None:
    """Store the string from `trees.codec.encode` as the tree of the sentence at these characters of the Doc.

    measures: the string with the measures of its words.

    A string is in `Doc.user_data` under the key of the sentence's Span attribute `ATTRIBUTE`, with its character
    offsets; spaCy shifts and copies such keys when it splits or joins Docs. Decoded trees are cached by their string
    and hold no reference to the Doc; only the public nodes (DocTree) do.
    """
    data: dict[Any, Any] = doc.user_data  # spaCy declares its keys as str, but uses tuples
    data["._.", ATTRIBUTE, start_char, end_char] = value
    if measures is not None:
        data["._.", MEASURES, start_char, end_char] = measures


def write_given(doc: Doc, given: Iterable[tuple[Sentence, Any]]) -> None:
    """Store given trees, normalized, as those of sentences, None for none, in place of all that overlap with these.

    Raises IncparseError, and changes nothing, if the words of a tree are not those of its sentence.
    """
    bounds, new = [], {}
    for sentence, one in given:
        start, end = sentence.start_char, sentence.end_char
        bounds.append((start, end))
        if one is not None:
            tree = normalized_tree(one)
            for number, (word, token) in enumerate(zip_longest(tree.words, sentence.words), start=1):
                if word != token and (token is None or penn_to_raw(token) != word):
                    what = f"word {number} of the tree is {word!r}, and that of the sentence {token!r}"
                    raise IncparseError(f"{what}: the words have to be the tokens of {doc.text[start:end]!r:.60}")
            new[key_of(start, end)] = encode(tree, sentence.char_starts, sentence.char_ends, origin=start)
    for key, value in stored_trees(doc).items():
        behind = bisect_left(bounds, (key[3], 0))
        if not behind or bounds[behind - 1][1] <= key[2]:
            new[key] = value
    remove_mirrors(doc)
    for key in keys(doc):
        del user_data(doc)[key]
    user_data(doc).update(new)


def key_of(start_char: int, end_char: int) -> Key:
    """Return the key of the sentence at these characters."""
    return "._.", ATTRIBUTE, start_char, end_char


def keys(doc: Doc, attribute: str = ATTRIBUTE) -> list[Key]:
    """Return the keys of all trees, or of all `MEASURES`, that are stored on the Doc, in arbitrary order."""
    return [
        key for key in user_data(doc) if isinstance(key, tuple) and key[:2] == ("._.", attribute) and None not in key
    ]


def user_data(doc: Doc) -> dict[Any, Any]:
    """Return the Doc's user data; spaCy declares its keys as str, but uses tuples."""
    return doc.user_data


def clear_trees(doc: Doc) -> None:
    """Remove all trees and measures from the Doc, and the groups of `doc.spans` that mirror trees."""
    for key in keys(doc) + keys(doc, MEASURES):
        del user_data(doc)[key]
    if doc.spans:
        remove_mirrors(doc)


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
    def _nodes_by_span(self) -> dict[tuple[int, int], int]:
        """(start, end) in characters from the sentence's start -> the highest node that covers exactly these."""
        nodes: dict[tuple[int, int], int] = {}
        arrays = self.tree.arrays
        for index, (start, end) in enumerate(zip(arrays.starts, arrays.ends, strict=True)):
            nodes.setdefault((self.char_starts[start], self.char_ends[end - 1]), index)
        return nodes

    @cached_property
    def head_words(self) -> tuple[int, ...]:
        """The lexical head of each node, as the index of a word."""
        return stored_head_words(self.tree.arrays, self.more, self.language)

    def node_at(self, start_char: int, end_char: int) -> int | None:
        """Return the index of the highest node over exactly these characters of the Doc, or None."""
        return self._nodes_by_span.get((start_char - self.start_char, end_char - self.start_char))

    def path_to(self, start_char: int, end_char: int) -> list[int]:
        """Return the nodes that cover these characters of the Doc, from the root down; [] if there are none."""
        arrays = self.tree.arrays
        first = bisect_right(self.char_starts, start_char - self.start_char) - 1
        last = bisect_left(self.char_ends, end_char - self.start_char)
        if first < 0 or last == len(self.char_ends):
            return []
        path = [lowest_common(arrays, arrays.leaves[min(first, last)], arrays.leaves[max(first, last)])]
        while arrays.parents[path[-1]] >= 0:
            path.append(arrays.parents[path[-1]])
        return path[::-1]

    def chars_of(self, index: int) -> tuple[int, int]:
        """Return the start and end offset of a node's characters in the Doc."""
        arrays = self.tree.arrays
        start, end = self.char_starts[arrays.starts[index]], self.char_ends[arrays.ends[index] - 1]
        return self.start_char + start, self.start_char + end


_cache: WeakKeyDictionary[Doc, dict[Key, tuple[str, AnchoredTree]]] = WeakKeyDictionary()


def anchored_trees(doc: Doc) -> list[AnchoredTree]:
    """Return the trees of the Doc in text order. Raises IncparseError if a stored string cannot be read."""
    values = stored_trees(doc)
    trees = [anchored_tree(doc, key, values[key]) for key in sorted(values, key=lambda key: key[2:])]
    return [tree for tree in trees if tree is not None]


def stored_trees(doc: Doc) -> dict[Key, str]:
    """Return the strings that store the Doc's trees: those of its user data, and those that only a mirror still has."""
    values = {key: user_data(doc)[key] for key in keys(doc)}
    return _lost_trees(doc) | values if doc.spans else values


def replace_trees(doc: Doc, values: Mapping[Key, str]) -> None:
    """Store other strings for trees of the Doc, also where mirrors keep them."""
    user_data(doc).update(values)
    for group in doc.spans.values():
        if MARK in group.attrs:
            mirrored = ((start, end, old) for start, end, old in group.attrs[MARK])
            group.attrs[MARK] = [(start, end, values.get(key_of(start, end), old)) for start, end, old in mirrored]


def anchored_tree_over(span: Span) -> AnchoredTree | None:
    """Return the tree of the sentence that contains the span, or None. Raises IncparseError as in `anchored_trees`."""
    doc = span.doc
    lost = _lost_trees(doc) if doc.spans else {}  # there may be a mirror
    if doc.has_annotation("SENT_START"):
        key = key_of(span.sent.start_char, span.sent.end_char)
        value = user_data(doc).get(key) or lost.get(key)
        found = None if value is None else anchored_tree(doc, key, value)
        if found is not None:
            return found
    # Sentence boundaries may have changed since parsing: find the tree by its characters.
    for key, value in stored_trees(doc).items():
        if key[2] <= span.start_char and span.end_char <= key[3]:
            return anchored_tree(doc, key, value)
    return None


def anchored_tree(doc: Doc, key: Key, value: str) -> AnchoredTree | None:
    """Return the tree that a string stores, from the cache if it is the same; None if it is not about this text.

    Raises IncparseError if the string is damaged.
    """
    cached = _cache.setdefault(doc, {})
    _, _, start_char, end_char = key
    if key not in cached or cached[key][0] != value:
        # `Span.as_doc` also keeps the trees of sentences outside the span, with offsets before or after the new Doc, or
        # partly in it.
        first, behind = max(start_char, 0), min(end_char, doc[-1].idx + len(doc[-1]) if len(doc) else 0)
        span = doc.char_span(first, behind, alignment_mode="expand") if first < behind else None
        if span is None:
            return None
        text = span.text[first - span.start_char : behind - span.start_char].rjust(behind - start_char)
        stored = decode(value)
        bounds = list(zip(stored.char_starts, stored.char_ends, strict=True))
        inside = [
            i for i, (start, end) in enumerate(bounds) if first <= start_char + start and start_char + end <= behind
        ]
        # `Doc.from_docs` moves such trees over other text: then some word begins or ends with a blank, and no token.
        if any(
            (text[start : start + 1].isspace() or text[end - 1 : end].isspace())
            and doc.char_span(start_char + start, start_char + end) is None
            for start, end in map(bounds.__getitem__, inside)
        ):
            return None
        chars = start_char, end_char, stored.char_starts, stored.char_ends
        tree = AnchoredTree(stored.tree(text), text, *chars, stored.score, stored.source, doc.lang_, stored.more)
        found = tree if (first, behind) == (start_char, end_char) else _cut_out(tree, inside)
        if found is None:
            return None
        cached[key] = value, found
    return cached[key][1]


def _cut_out(found: AnchoredTree, words: Sequence[int]) -> AnchoredTree | None:
    """Return the highest phrase over exactly these words as a given tree with the root TOP; None if there is none."""
    bounds = list(zip(found.tree.arrays.starts, found.tree.arrays.ends, strict=True))
    if not words or (words[0], words[-1] + 1) not in bounds:
        return None
    node = found.tree._at(bounds.index((words[0], words[-1] + 1)))
    tree = make_tree(ROOT, [node.with_empties()]) if node.index else node
    if node.index and node.arrays.annotation:  # functions and empty categories stand beside the new tree, too
        tree = cast("Tree", tree.remove_empties())
    start, end = found.char_starts[words[0]], found.char_ends[words[-1]]
    return AnchoredTree(
        tree, found.text[start:end],
        found.start_char + start, found.start_char + end,
        tuple(found.char_starts[i] - start for i in words), tuple(found.char_ends[i] - start for i in words),
        None, "", found.language,
    )  # fmt: skip


class MirrorGroup(SpanGroup):
    """A SpanGroup that survives `doc.retokenize()`.

    spaCy's own groups keep the original token indices of their spans, so that after a merge they cover other tokens or
    raise IndexError. This class realigns the spans by their characters and drops those that begin or end inside a
    token.
    """

    def __init__(self, doc: Doc, *, name: str = "", attrs: dict[str, Any] | None = None, spans: Any = ()):
        super().__init__(doc, name=name, attrs=attrs or {}, spans=list(spans))
        self._tokens: np.ndarray | None = doc.to_array(IDX)  # the tokens that the indices refer to

    @classmethod
    def of(cls, group: SpanGroup) -> MirrorGroup:
        """Return a copy of a group, whose token indices may already be outdated by a merge."""
        copy = cls(group.doc).from_bytes(SpanGroup.to_bytes(group))
        copy.attrs = dict(group.attrs)
        return copy

    def __len__(self) -> int:
        return self._fitted().__len__()

    def __getitem__(self, index: int) -> Span:
        return self._fitted().__getitem__(index)

    def __iter__(self) -> Iterator[Span]:
        group = self._fitted()
        return (group.__getitem__(i) for i in range(group.__len__()))

    def __setitem__(self, index: int, span: Span) -> None:
        self._fitted().__setitem__(index, span)

    def to_bytes(self) -> bytes:
        """Return the group as bytes, which spaCy loads as a plain SpanGroup."""
        return self._fitted().to_bytes()

    def from_bytes(self, data: bytes) -> MirrorGroup:
        """Load the spans of another group."""
        super().from_bytes(data)
        self._tokens = None
        return self

    def copy(self, doc: Doc | None = None) -> MirrorGroup:
        """Return a copy, optionally on another Doc with the same text."""
        return MirrorGroup.of(self._fitted().copy(doc))

    def _fitted(self) -> Any:
        """Realign the spans with the current tokens, and return the SpanGroup methods of this group."""
        tokens = self.doc.to_array(IDX)
        if self._tokens is None or not np.array_equal(tokens, self._tokens):
            attrs = self.attrs
            group = srsly.msgpack_loads(super().to_bytes())
            moved = []
            for *ids, _, _, start_char, end_char in map(SPAN.unpack, group["spans"]):
                span = self.doc.char_span(start_char, end_char)
                if span is not None:
                    moved.append(SPAN.pack(*ids, span.start, span.end, start_char, end_char))
            group["spans"] = moved
            super().from_bytes(srsly.msgpack_dumps(group))
            self.attrs, self._tokens = attrs, tokens
        return super()


def mirror_trees(doc: Doc, name: str, parsed: Iterable[tuple[Sentence, str]]) -> None:
    """Write the phrases below the roots to `doc.spans` in pre-order, given sentences with their stored trees.

    In a unary chain, parents come before children. A sentence without phrases is represented by its root.

    The group of a mirror has the strings in its `attrs`, too, which a DocBin keeps even without user data. If `attrs`
    are lost, the trees are rebuilt from the spans. The id of each span holds the number of phrases in its sentence, so
    that a selection of spans is not mistaken for a whole mirror. JSON keeps no ids; there, the group's name identifies
    a mirror.
    """
    spans: list[Span] = []
    trees: list[Stored] = []
    for sentence, value in parsed:
        tree = decode(value)
        nodes = zip(tree.labels, tree.starts, tree.ends, tree.sizes, strict=True)
        phrases = [(label, start, end) for label, start, end, size in nodes if size > 1]
        phrases = phrases[1:] or phrases
        for label, start, end in phrases:
            first, last = sentence.tokens[start], sentence.tokens[end - 1]
            spans.append(Span(doc, first, last + 1, label=label, span_id=f"{MARK}:{len(phrases)}"))
        trees.append((sentence.start_char, sentence.end_char, value))
    doc.spans[name] = MirrorGroup(doc, name=name, attrs={MARK: trees}, spans=spans)


def remove_mirrors(doc: Doc) -> None:
    """Remove the groups that mirror trees, because the trees are about to change."""
    for name, group in list(doc.spans.items()):
        if MARK in group.attrs or (_has_ids(group) and _is_whole(doc, _rebuilt(doc, group))):
            del doc.spans[name]


_lost: WeakKeyDictionary[Doc, tuple[Any, dict[Key, str]]] = WeakKeyDictionary()  # with the state they were found in


def _lost_trees(doc: Doc) -> dict[Key, str]:
    """Return the stored trees that are in a mirror, but no longer in the user data. Never raises an error."""
    state, found = _state(doc), _lost.get(doc)
    if found is None or found[0] != state:
        groups = doc.spans.values()
        stored = sorted(key[2:] for key in keys(doc))  # disjoint
        known = [tree for group in groups for tree in group.attrs.get(MARK, ())]
        marked = [group for group in groups if MARK not in group.attrs and _has_ids(group)]
        known += [tree for group in marked for tree in _rebuilt(doc, group)]
        if not known and not stored:
            mirrors = {component.spans_key for component in live_components()}
            named = [group for name, group in doc.spans.items() if name in mirrors]
            trees = _rebuilt(doc, named[0], with_ids=False) if len(named) == 1 else []
            known = trees if _is_whole(doc, trees) else []
        lost = {}
        for start, end, value in known:
            behind = bisect_left(stored, (end, 0))
            if not behind or stored[behind - 1][1] <= start:  # no stored tree overlaps with it
                lost[key_of(start, end)] = value
        found = _lost[doc] = _state(doc), lost
    return found[1]


def _state(doc: Doc) -> tuple[Any, ...]:
    """Return a value that changes when trees are lost or a mirror is added; cheap to compute."""
    groups = doc.spans.data  # the dict inside the UserDict: its own methods take three times as long
    return len(doc.user_data), *((name, SpanGroup.__len__(one), len(one.attrs)) for name, one in groups.items())


def _is_whole(doc: Doc, trees: list[Stored]) -> bool:
    return len(trees) == len(split_sentences(doc))


def _has_ids(group: SpanGroup) -> bool:
    """Return whether a group contains spans of a mirror."""
    try:
        return len(group) > 0 and group[0].id_.startswith(f"{MARK}:")
    except (IndexError, KeyError):  # indices outdated by merging tokens; an id missing from the vocab
        return False


def _rebuilt(doc: Doc, group: SpanGroup, *, with_ids: bool = True) -> list[Stored]:
    """Return the trees of the sentences whose phrases are all in the group, in pre-order and properly nested."""
    try:
        phrases = [(span.label_, span.start_char, span.end_char, span.id_) for span in group]
    except (IndexError, KeyError):
        return []
    trees, first = [], 0
    for sentence in split_sentences(doc):
        behind = first
        while behind < len(phrases) and phrases[behind][1] < sentence.end_char:
            behind += 1
        mark = f"{MARK}:{behind - first}" if with_ids else ""
        inside, first = phrases[first:behind], behind
        if inside and all(id_ == mark for *_, id_ in inside):
            tree = _tree(sentence, [phrase[:3] for phrase in inside])
            if tree is not None:
                value = encode(tree, sentence.char_starts, sentence.char_ends, origin=sentence.start_char)
                trees.append((sentence.start_char, sentence.end_char, value))
    return trees


def _tree(sentence: Sentence, phrases: list[tuple[str, int, int]]) -> Tree | None:
    """Return the tree of phrases over characters, with the Doc's tags; None if they form no tree over the words."""
    words = {start: i for i, start in enumerate(sentence.char_starts)}
    behind = {end: i + 1 for i, end in enumerate(sentence.char_ends)}
    found = [(label, words.get(start), behind.get(end)) for label, start, end in phrases]
    spans = [(label, start, end) for label, start, end in found if start is not None and end is not None]
    if len(spans) < len(found):
        return None
    whole = (ROOT, 0, len(sentence.words))
    nested = checked_spans([whole] if spans == [whole] else [whole, *spans], len(sentence.words))
    try:
        return tree_of_phrases(nested, sentence.words, [tag or UNKNOWN_TAG for tag in sentence.tags])
    except IncparseError:
        return None
