"""Word measures on a Doc, stored as one string per sentence in `doc.user_data`, like trees (see storage.py)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from spacy.tokens import Doc, Span, Token

from spacy_incparse.documents.sentences import Sentence
from spacy_incparse.documents.storage import user_data
from spacy_incparse.errors import IncparseError
from spacy_incparse.generative.measures import WordMeasures, joined, measuring_parser

ATTRIBUTE = "incparse_measures"
VERSION = 1
DIGITS = 6  # decimal places of values in bits


def measure_sentence(parser: object, name: str, sentence: Sentence, tags: Sequence[Any]) -> str:
    """Return the string that stores the measures of a sentence's words.

    tags: the tags used in parsing. name: the name of the parser's component. Raises IncparseError if the parser is not
    generative.
    """
    found = measuring_parser(parser, name).measures(sentence.words, tags)
    origin = sentence.start_char
    stored = {
        "version": VERSION,
        "starts": [start - origin for start in sentence.char_starts],
        "ends": [end - origin for end in sentence.char_ends],
        "rows": [
            [round(value, DIGITS) if isinstance(value, float) else value for value in vars(word).values()]
            for word in found
        ],
    }
    return json.dumps(stored, separators=(",", ":"))


def write_measures(doc: Doc, sentence: Sentence, value: str) -> None:
    """Store the string from `measure_sentence` on the Doc."""
    user_data(doc)["._.", ATTRIBUTE, sentence.start_char, sentence.end_char] = value


def clear_measures(doc: Doc) -> None:
    """Remove all measures from the Doc."""
    for key in _keys(doc):
        del user_data(doc)[key]


def token_measures(token: Token) -> WordMeasures | None:
    """Return the measures of a token; None for whitespace, and for tokens not made of whole words of one sentence.

    A token merged from several words has their joint measures; a token split from a word has none. Raises IncparseError
    if the token was not measured: measures come from a component `incparse` with a generative model and the setting
    `measures = true`.
    """
    if token.is_space:
        return None
    start, end = token.idx, token.idx + len(token)
    is_measured = False
    for key in _keys(token.doc):
        is_measured = is_measured or (key[2] < end and start < key[3])
        if key[2] <= start and end <= key[3]:
            stored = _decode(user_data(token.doc)[key])
            bounds = zip(stored["starts"], stored["ends"], strict=True)
            inside = [i for i, (s, e) in enumerate(bounds) if start <= key[2] + s and key[2] + e <= end]
            if inside:
                return joined([WordMeasures(*stored["rows"][i]) for i in inside])
    if is_measured:
        return None
    raise IncparseError(
        f"{token.text!r} has no measures: parse with a generative model and its component's setting "
        f"measures = true, such as spacy_incparse.load('en_generative')"
    )


def register_measures() -> None:
    """Register the Span attribute, so that spaCy keeps the strings when it splits or joins Docs."""
    if not Span.has_extension(ATTRIBUTE):
        Span.set_extension(ATTRIBUTE, default=None)


def _keys(doc: Doc) -> list[Any]:
    return [key for key in user_data(doc) if isinstance(key, tuple) and key[:2] == ("._.", ATTRIBUTE)]


def _decode(value: str) -> dict[str, Any]:
    try:
        stored = json.loads(value)
        if stored["version"] == VERSION:
            return stored
    except (ValueError, TypeError, KeyError) as error:
        raise IncparseError(f"the stored measures are damaged: {error}") from None
    raise IncparseError(f"the stored measures have version {stored['version']}, this program reads {VERSION}")
