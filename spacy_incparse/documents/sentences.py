"""The sentences of a Doc in the form that the parser needs: words with their positions in the text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from spacy.attrs import IDX, IS_SPACE, LENGTH, ORTH, SENT_START, TAG
from spacy.strings import StringStore
from spacy.tokens import Doc

from spacy_incparse.parsing.parse import Constraint


@dataclass(frozen=True, slots=True)
class Sentence:
    """The words of one sentence of a Doc, without whitespace tokens."""

    start_char: int  # of the whole sentence in the Doc, including whitespace tokens at its edges
    end_char: int
    tokens: Sequence[int]  # token index of each word in the Doc
    words: list[str]
    tags: list[str]  # tag_ of each word on the Doc, often ""
    char_starts: list[int]  # of each word, in the Doc
    char_ends: list[int]
    constraints: tuple[Constraint, ...] = ()  # on the phrases of its tree
    seen: Any = None  # by a component: the vectors of the words, or the sentence as each member sees it


def has_sentence_bounds(doc: Doc) -> bool:
    """Return whether sentence boundaries are set; a single token needs none."""
    return len(doc) < 2 or doc.has_annotation("SENT_START")


class Texts(dict[int, str]):
    """A cache of string id -> string, for the Docs of one batch. It is faster than the vocab and than Tokens."""

    def __init__(self, strings: StringStore):
        super().__init__()
        self.strings = strings

    def __missing__(self, key: int) -> str:
        self[key] = text = self.strings[key]
        return text


def split_sentences(doc: Doc, texts: Texts | None = None) -> list[Sentence]:
    """Return the sentences that have words, in order; a Doc without sentence boundaries is one sentence.

    The time is linear in the length of the Doc. `texts` may be shared by Docs of the same vocab.
    """
    if not len(doc):
        return []
    table = _TokenTable(doc, Texts(doc.vocab.strings) if texts is None else texts)
    bounds = [*table.firsts, len(doc)]
    spans = pairwise(bounds)
    sentences = (table.sentence(first, behind) for first, behind in spans)
    return [sentence for sentence in sentences if sentence.words]


class _TokenTable:
    """The columns of a Doc's tokens, read at once."""

    def __init__(self, doc: Doc, texts: Texts):
        ids = doc.to_array([SENT_START, IS_SPACE, IDX, LENGTH, TAG, ORTH])
        columns = ids[:, :4].astype(np.int64)
        self.char_starts: list[int] = columns[:, 2].tolist()
        self.char_ends: list[int] = (columns[:, 2] + columns[:, 3]).tolist()
        self.firsts: list[int] = [0, *(np.flatnonzero(columns[1:, 0] == 1) + 1).tolist()]
        self.spaces: list[int] | None = columns[:, 1].tolist() if columns[:, 1].any() else None
        self.words = [texts[orth] for orth in ids[:, 5].tolist()]
        self.tags = [texts[tag] for tag in ids[:, 4].tolist()] if ids[:, 4].any() else [""] * len(doc)

    def sentence(self, first: int, behind: int) -> Sentence:
        """Return the sentence with the tokens from `first` up to but not including `behind`."""
        span = self.char_starts[first], self.char_ends[behind - 1]
        columns: tuple[list, ...] = (self.words, self.tags, self.char_starts, self.char_ends)
        if self.spaces is None or not any(self.spaces[first:behind]):
            words, tags, starts, ends = [column[first:behind] for column in columns]
            return Sentence(*span, range(first, behind), words, tags, starts, ends)
        tokens = [i for i in range(first, behind) if not self.spaces[i]]
        words, tags, starts, ends = [[column[i] for i in tokens] for column in columns]
        return Sentence(*span, tokens, words, tags, starts, ends)


def write_tags(doc: Doc, tagged: Iterable[tuple[Sentence, Sequence[str]]]) -> None:
    """Set token.tag_ of the words of sentences; other tokens, such as whitespace, keep their tags.

    One call to spaCy per Doc is seven times as fast as one per token.
    """
    column: Any = doc.to_array(TAG)
    for sentence, tags in tagged:
        words = sentence.tokens
        where = slice(words.start, words.stop) if isinstance(words, range) else words
        column[where] = np.fromiter(map(doc.vocab.strings.add, tags), np.uint64, len(tags))
    doc.from_array([TAG], column)
