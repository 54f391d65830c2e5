"""The fields that templates of edges can use: words around the borders of a span, and the span itself.

A span reaches from border i to border j, and the children of a binary rule meet at border k. Word number b is the one
behind border b, so `W[i]` is the first word, `W[i-1]` the one before it, `W[j-1]` the last one, and `W[j]` the one
after it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from spacy_incparse.errors import ConfigError

MAX_OFFSET = 3  # from a border, to either side

# What a field such as W[i-1] can tell of a word. Sentences are arrays of these values in this order.
WORD_VALUES = {
    "W": "the word; rare ones by their shape and suffix",
    "L": "the word in lower case",
    "C": "shape and suffix of a rare word",
    "U": "shape and suffix of any word",
    "S": "the kind of the word: its first character, and whether it is all capitals",
    "T": "the tag, or the best one of several",
    "K": "the word's cluster",
    "G": "the cluster's group: a short prefix of its path",
}

# Fields that are not about one word, with the borders that they depend on.
SPAN_FIELDS = {
    "LEN": ("ij", "length of the span in words, in buckets"),
    "LEFT": ("ik", "length of the left child, in buckets"),
    "RIGHT": ("kj", "length of the right child, in buckets"),
    "SHAPE": ("ij", "the kinds of all words of the span and of its neighbours"),
    "TAGS": ("ij", "the tags of all words of the span"),
    "SHORT": ("ij", "length of a span of up to 3 words; all longer ones are equal"),
    "MIDDLE": ("ij", "the second word of a span of 3 words"),
    "RANK": ("i", "how the lexical rule's tag stands to the tagger's choice, if a word has several tags"),
}

_WORD_FIELD = re.compile(rf"([{''.join(WORD_VALUES)}])\[([ijk])([+-][1-{MAX_OFFSET}])?\]")


class EdgeField(NamedTuple):
    """A field: a value of a word at an offset from a border, or a field of the span, whose border is "".

    borders: those that the value depends on.
    """

    value: str
    border: str
    offset: int
    borders: str


def parse_field(text: str) -> EdgeField:
    """Return the field with a name such as ``W[i-1]`` or ``LEN``. Raises ConfigError for any other text."""
    if text in SPAN_FIELDS:
        return EdgeField(text, "", 0, SPAN_FIELDS[text][0])
    match = _WORD_FIELD.fullmatch(text)
    if match is None:
        raise ConfigError(
            f"unknown field {text!r}: choose from {', '.join(SPAN_FIELDS)}, or name a word, as in W[i-1]: one of "
            f"{', '.join(WORD_VALUES)} at the border i, j or k, and up to {MAX_OFFSET} words from it"
        )
    return EdgeField(match[1], match[2], int(match[3] or 0), match[2])
