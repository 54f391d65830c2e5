"""The strings that store trees in `Doc.user_data`, one per sentence.

The key is that of the sentence's Span attribute `ATTRIBUTE`, with its character offsets. spaCy shifts and copies such
keys when it splits or joins Docs.
"""

from __future__ import annotations

from typing import Any

from spacy.tokens import Doc

ATTRIBUTE = "incparse"

Key = tuple[str, str, int, int]


def write_tree(doc: Doc, start_char: int, end_char: int, value: str) -> None:
    """Store the string from `trees.codec.encode` as the tree of the sentence at these characters of the Doc."""
    user_data(doc)[key_of(start_char, end_char)] = value


def key_of(start_char: int, end_char: int) -> Key:
    """Return the key of the sentence at these characters."""
    return "._.", ATTRIBUTE, start_char, end_char


def keys(doc: Doc) -> list[Key]:
    """Return the keys of all trees stored on the Doc, in arbitrary order."""
    return [
        key for key in user_data(doc) if isinstance(key, tuple) and key[:2] == ("._.", ATTRIBUTE) and None not in key
    ]


def user_data(doc: Doc) -> dict[Any, Any]:
    """Return the Doc's user data; spaCy declares its keys as str, but uses tuples."""
    return doc.user_data
