"""Rebuild trees from the spans of a group, after spaCy has dropped everything else.

The id of each span contains the number of phrases in its sentence, so that a selection of spans from a mirror is not
mistaken for a complete mirror.
"""

from __future__ import annotations

from typing import NamedTuple

from spacy.tokens import Doc, SpanGroup

from spacy_incparse.documents.sentences import Sentence, split_sentences
from spacy_incparse.errors import IncparseError
from spacy_incparse.trees.builder import tree_of_phrases
from spacy_incparse.trees.codec import encode
from spacy_incparse.trees.dicts import checked_spans
from spacy_incparse.trees.labels import ROOT, UNKNOWN_TAG
from spacy_incparse.trees.tree import Tree

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
