"""Write tags to Docs, one whole Doc at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from spacy.attrs import TAG
from spacy.strings import StringStore
from spacy.tokens import Doc

from spacy_incparse.documents.sentences import Sentence


class TagIds(dict[str, int]):
    """A cache of tag -> id in a vocab, for the Docs of one batch."""

    def __init__(self, strings: StringStore):
        super().__init__()
        self.strings = strings

    def __missing__(self, tag: str) -> int:
        self[tag] = tag_id = self.strings.add(tag)
        return tag_id


def write_tags(doc: Doc, tagged: Iterable[tuple[Sentence, Sequence[str]]], ids: TagIds | None = None) -> None:
    """Set token.tag_ of the words of sentences; other tokens, such as whitespace, keep their tags.

    `ids` may be shared by Docs of the same vocab. One call to spaCy per Doc is seven times as fast as one per token.
    """
    ids = TagIds(doc.vocab.strings) if ids is None else ids
    column: Any = doc.to_array(TAG)
    for sentence, tags in tagged:
        words = sentence.tokens
        where = slice(words.start, words.stop) if isinstance(words, range) else words
        column[where] = np.array([ids[tag] for tag in tags], dtype=np.uint64)
    doc.from_array([TAG], column)
