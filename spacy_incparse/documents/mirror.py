"""Mirror the phrases of trees in `doc.spans`, and find the trees in the mirror if spaCy has dropped them.

The group of a mirror has the trees' stored strings in its `attrs`, which a DocBin keeps even without user data. If
`attrs` are lost too, the trees are rebuilt from the spans. JSON does not keep span ids; there, the group's name
identifies a mirror.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from spacy.tokens import Doc, Span, SpanGroup

from spacy_incparse.documents.live_parsers import mirror_names
from spacy_incparse.documents.sentences import Sentence, split_sentences
from spacy_incparse.documents.span_groups import MirrorGroup
from spacy_incparse.documents.user_data import Key, key_of, keys
from spacy_incparse.errors import IncparseError
from spacy_incparse.trees.arrays import Phrase
from spacy_incparse.trees.builder import tree_of_phrases
from spacy_incparse.trees.codec import decode, encode
from spacy_incparse.trees.export import checked_spans
from spacy_incparse.trees.labels import ROOT, UNKNOWN_TAG
from spacy_incparse.trees.tree import Tree

_lost: WeakKeyDictionary[Doc, tuple[Any, dict[Key, str]]] = WeakKeyDictionary()  # with the state they were found in


def mirror_trees(doc: Doc, name: str, parsed: Iterable[tuple[Sentence, str]]) -> None:
    """Write the phrases below the roots to `doc.spans` in pre-order, given sentences with their stored trees.

    In a unary chain, parents come before children. A sentence without phrases is represented by its root.
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
    """Remove the groups that mirror trees, because the trees are about to change."""
    for name, group in list(doc.spans.items()):
        if MARK in group.attrs or (has_ids(group) and _is_whole(doc, rebuilt(doc, group))):
            del doc.spans[name]


def lost_trees(doc: Doc) -> dict[Key, str]:
    """Return the stored trees that are in a mirror, but no longer in the user data. Never raises an error.

    The mirror of a loaded Doc is exchanged for one that merging tokens leaves intact; nothing else changes.
    """
    state = _state(doc)
    found = _lost.get(doc)
    if found is None or found[0] != state:
        for name, group in list(doc.spans.items()):
            if MARK in group.attrs and not isinstance(group, MirrorGroup):
                doc.spans[name] = MirrorGroup.of(group)
        found = _lost[doc] = _state(doc), {key_of(start, end): value for start, end, value in _only_mirrored(doc)}
    return found[1]


def _state(doc: Doc) -> tuple[Any, ...]:
    """Return a value that changes when trees are lost or a mirror is added; cheap to compute."""
    groups = doc.spans.data  # the dict inside the UserDict: its own methods take three times as long
    return len(doc.user_data), *((name, SpanGroup.__len__(one), len(one.attrs)) for name, one in groups.items())


def _only_mirrored(doc: Doc) -> list[Stored]:
    """Return the trees that are in a mirror but not on the Doc."""
    groups = list(doc.spans.items())
    stored = sorted(key[2:] for key in keys(doc))
    known = [tree for _, group in groups for tree in group.attrs.get(MARK, ())]
    known += [tree for _, group in groups if MARK not in group.attrs and has_ids(group) for tree in rebuilt(doc, group)]
    if not known and not stored:
        named = [group for name, group in groups if name in mirror_names()]
        trees = rebuilt(doc, named[0], with_ids=False) if len(named) == 1 else []
        known = trees if _is_whole(doc, trees) else []
    lost = {(start, end): value for start, end, value in known if not _overlaps(stored, start, end)}
    return [(*chars, value) for chars, value in lost.items()]


def _overlaps(stored: list[tuple[int, int]], start: int, end: int) -> bool:
    """Return whether these characters overlap with one of the sentences, which are sorted and disjoint."""
    behind = bisect_left(stored, (end, 0))
    return behind > 0 and stored[behind - 1][1] > start


def _is_whole(doc: Doc, trees: list[Stored]) -> bool:
    return len(trees) == len(split_sentences(doc))


def _phrases(value: str) -> list[Phrase]:
    """Return the phrases below the root, or of the root if there are none."""
    tree = decode(value)
    nodes = zip(tree.labels, tree.starts, tree.ends, tree.sizes, strict=True)
    phrases = [(label, start, end) for label, start, end, size in nodes if size > 1]
    return phrases[1:] or phrases


# The id of each span contains the number of phrases in its sentence, so that a selection of spans from a mirror is not
# mistaken for a complete mirror.

MARK = "incparse"  # the id of a span is this mark, a colon and the number of phrases in the sentence

Stored = tuple[int, int, str]  # start and end character of a sentence, and the string that stores its tree


class MirroredPhrase(NamedTuple):
    """A phrase in a group of spans, by its original characters, because its tokens may have changed."""

    label: str
    start_char: int
    end_char: int
    id: str


def has_ids(group: SpanGroup) -> bool:
    """Return whether a group contains spans of a mirror."""
    try:
        return len(group) > 0 and group[0].id_.startswith(f"{MARK}:")
    except (IndexError, KeyError):  # indices outdated by merging tokens; an id missing from the vocab
        return False


def rebuilt(doc: Doc, group: SpanGroup, *, with_ids: bool = True) -> list[Stored]:
    """Return the trees of the sentences whose phrases are all in the group, in pre-order and properly nested."""
    try:
        phrases = [MirroredPhrase(span.label_, span.start_char, span.end_char, span.id_) for span in group]
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


def _tree(sentence: Sentence, phrases: list[MirroredPhrase]) -> Tree | None:
    """Return the tree of these phrases, with the Doc's tags; None if they do not form a tree over the words."""
    words = {start: i for i, start in enumerate(sentence.char_starts)}
    behind = {end: i + 1 for i, end in enumerate(sentence.char_ends)}
    found = [(phrase.label, words.get(phrase.start_char), behind.get(phrase.end_char)) for phrase in phrases]
    spans = [(label, start, end) for label, start, end in found if start is not None and end is not None]
    if len(spans) < len(found):
        return None
    whole = (ROOT, 0, len(sentence.words))
    nested = checked_spans([whole] if spans == [whole] else [whole, *spans], len(sentence.words))
    try:
        return tree_of_phrases(nested, sentence.words, [tag or UNKNOWN_TAG for tag in sentence.tags])
    except IncparseError:
        return None
