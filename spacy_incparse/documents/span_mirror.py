"""Phrases in `doc.spans`: a mirror of the trees, and the trees again from that mirror where spaCy has dropped them.

The group of a mirror has the trees' stored strings in its `attrs`, which a DocBin keeps even without user data. Where
`attrs` are lost too, the spans themselves tell the tree: the id of each says how many phrases its sentence has, so that
what somebody has picked from a mirror is not taken for one. JSON keeps no ids; there the group's name decides.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from spacy.tokens import Doc, Span, SpanGroup

from spacy_incparse.documents.live_parsers import mirror_names
from spacy_incparse.documents.mirror_group import MirrorGroup
from spacy_incparse.documents.sentences import Sentence, split_sentences
from spacy_incparse.documents.user_data import keys, write_tree
from spacy_incparse.trees.builder import TreeBuilder
from spacy_incparse.trees.codec import decode, encode
from spacy_incparse.trees.tree import Tree

MARK = "incparse"  # the name in `attrs`; with a colon and the number of phrases the id of a span
ROOT_LABEL = "TOP"
UNKNOWN_TAG = "X"  # of a word that the Doc has no tag for

Stored = tuple[int, int, str]  # characters of a sentence, and the string for its tree


class Phrase(NamedTuple):
    """A span of a group, by the characters that it was made for: its tokens may be others since."""

    label: str
    start_char: int
    end_char: int
    id: str


_looked_at: WeakKeyDictionary[Doc, tuple[Any, ...]] = WeakKeyDictionary()


def mirror_trees(doc: Doc, name: str, parsed: Iterable[tuple[Sentence, str]]) -> None:
    """Write the phrases below the roots to `doc.spans` in pre-order, given sentences with their stored trees.

    One of a unary chain comes before what it covers. A sentence without phrases is there with its root.
    """
    spans: list[Span] = []
    trees: list[Stored] = []
    for sentence, value in parsed:
        phrases = _phrases(value)
        for label, start, end in phrases:
            first, last = sentence.tokens[start], sentence.tokens[end - 1]
            spans.append(Span(doc, first, last + 1, label=label, span_id=f"{MARK}:{len(phrases)}"))
        trees.append((sentence.start_char, sentence.end_char, value))
    doc.spans[name] = MirrorGroup(doc, name=name, attrs={MARK: trees}, spans=spans)


def remove_mirrors(doc: Doc) -> None:
    """Remove the groups that mirror trees, as these are about to be others."""
    for name, group in list(doc.spans.items()):
        if MARK in group.attrs or (_has_ids(group) and _is_whole(doc, _rebuilt(doc, group))):
            del doc.spans[name]


def restore_lost(doc: Doc) -> None:
    """Store the trees of a mirror on the Doc again where they are not there any more. Raises nothing."""
    state = _state(doc)
    if _looked_at.get(doc) != state:
        _adopt(doc)
        for start_char, end_char, value in _lost(doc):
            write_tree(doc, start_char, end_char, value)
        _looked_at[doc] = _state(doc)


def _adopt(doc: Doc) -> None:
    """Let mirrors follow their characters again: on a Doc that was loaded they are groups of spaCy's own."""
    for name, group in list(doc.spans.items()):
        if MARK in group.attrs and not isinstance(group, MirrorGroup):
            doc.spans[name] = MirrorGroup.of(group)


def _state(doc: Doc) -> tuple[Any, ...]:
    """Return what changes where trees were lost or a mirror has come; quick to get."""
    groups = doc.spans.data  # what a UserDict holds: its own methods take three times as long
    return len(doc.user_data), tuple(groups), tuple(map(SpanGroup.__len__, groups.values()))


def _lost(doc: Doc) -> list[Stored]:
    """Return the trees that a mirror has and the Doc has not."""
    groups = list(doc.spans.items())
    stored = sorted(key[2:] for key in keys(doc))
    known = [tree for _, group in groups for tree in group.attrs.get(MARK, ())]
    known += [
        tree for _, group in groups if MARK not in group.attrs and _has_ids(group) for tree in _rebuilt(doc, group)
    ]
    if not known and not stored:
        named = [group for name, group in groups if name in mirror_names()]
        trees = _rebuilt(doc, named[0], with_ids=False) if len(named) == 1 else []
        known = trees if _is_whole(doc, trees) else []
    lost = {(start, end): value for start, end, value in known if not _overlaps(stored, start, end)}
    return [(*chars, value) for chars, value in lost.items()]


def _overlaps(stored: list[tuple[int, int]], start: int, end: int) -> bool:
    """Whether one of the sentences, which are sorted and do not overlap, has any of these characters."""
    behind = bisect_left(stored, (end, 0))
    return behind > 0 and stored[behind - 1][1] > start


def _is_whole(doc: Doc, trees: list[Stored]) -> bool:
    return len(trees) == len(split_sentences(doc))


def _phrases(value: str) -> list[tuple[str, int, int]]:
    """Return (label, first word, one behind the last) of the phrases below the root, or of the root if it has none."""
    tree = decode(value)
    nodes = zip(tree.labels, tree.starts, tree.ends, tree.sizes, strict=True)
    phrases = [(label, start, end) for label, start, end, size in nodes if size > 1]
    return phrases[1:] or phrases


def _has_ids(group: SpanGroup) -> bool:
    try:
        return len(group) > 0 and group[0].id_.startswith(f"{MARK}:")
    except (IndexError, KeyError):  # broken by merging tokens; an id that the vocab does not know
        return False


def _rebuilt(doc: Doc, group: SpanGroup, *, with_ids: bool = True) -> list[Stored]:
    """Return the trees of those sentences whose phrases are all in the group, in pre-order and properly nested."""
    try:
        phrases = [Phrase(span.label_, span.start_char, span.end_char, span.id_) for span in group]
    except (IndexError, KeyError):
        return []
    trees, first = [], 0
    for sentence in split_sentences(doc):
        behind = first
        while behind < len(phrases) and phrases[behind].start_char < sentence.end_char:
            behind += 1
        mark = f"{MARK}:{behind - first}" if with_ids else ""
        inside, first = phrases[first:behind], behind
        if inside and all(phrase.id == mark for phrase in inside):
            tree = _tree(sentence, inside)
            if tree is not None:
                value = encode(tree, sentence.char_starts, sentence.char_ends, origin=sentence.start_char)
                trees.append((sentence.start_char, sentence.end_char, value))
    return trees


def _tree(sentence: Sentence, phrases: list[Phrase]) -> Tree | None:
    """Return the tree of these phrases, with the tags of the Doc; None where they are no tree over the words."""
    words = {start: i for i, start in enumerate(sentence.char_starts)}
    behind = {end: i + 1 for i, end in enumerate(sentence.char_ends)}
    spans = [(phrase.label, words.get(phrase.start_char), behind.get(phrase.end_char)) for phrase in phrases]
    if spans == [(ROOT_LABEL, 0, len(sentence.words))]:
        spans = []
    return _nested(sentence, iter([*spans, ("", None, None)]))


def _nested(sentence: Sentence, spans: Iterator[tuple[str, int | None, int | None]]) -> Tree | None:
    builder = TreeBuilder()
    builder.open(ROOT_LABEL)
    open_ends = [len(sentence.words)]
    label, start, end = next(spans)
    for i, (word, tag) in enumerate(zip(sentence.words, sentence.tags, strict=True)):
        while start == i and end is not None and i < end <= open_ends[-1]:
            builder.open(label)
            open_ends.append(end)
            label, start, end = next(spans)
        builder.leaf(tag or UNKNOWN_TAG, word)
        while open_ends and open_ends[-1] == i + 1:
            builder.close()
            open_ends.pop()
    is_used_up = label == "" and start is None and next(spans, None) is None
    return builder.finish() if is_used_up else None
