"""Validation of words pushed to a session, and of the number of analyses requested."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

from spacy_incparse.errors import IncparseError
from spacy_incparse.parsers.parse import Tag

_BLANKS = " \t\n\r\v\f"  # separate words; other blanks, such as the no-break space, can be part of a word
NO_WORDS = "the session has no words yet: push() returns a session with one more, as in session = session.push('The')"


def check_word(word: str, tag: Tag, known: Sequence[str]) -> None:
    """Raise IncparseError if `word` is not a word, or if the parser does not know the tag."""
    if not isinstance(word, str):
        raise IncparseError(f"a word has to be a string, not {word!r}: for a token, push token.text")
    if not word.strip() or any(blank in word for blank in _BLANKS):
        raise IncparseError(f"{word!r} is not one word: push the words one by one")
    if isinstance(tag, str):
        if tag and tag not in known:
            choice = ", ".join(sorted(known))
            raise IncparseError(f"the parser does not know the tag {tag!r} (for {word!r}): choose one of {choice}")
    elif tag is not None:
        _check_tags(word, tag)


def _check_tags(word: str, tags: Any) -> None:
    """Raise IncparseError unless these are pairs of a tag and its distance from the best, best first."""
    is_list = isinstance(tags, list | tuple) and all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in tags)
    if not (is_list and tags and all(isinstance(tag, str) and isinstance(gap, int | float) for tag, gap in tags)):
        raise IncparseError(
            f"{tags!r} is not a tag (for {word!r}): pass a string, or a list of pairs of a tag and its distance from "
            f"the best"
        )


def check_n_analyses(k: int) -> None:
    """Raise IncparseError unless the number of analyses is a positive integer."""
    if isinstance(k, bool) or not isinstance(k, Integral):
        raise IncparseError(f"the number of analyses has to be a whole number, not {k!r}")
    if k < 1:
        raise IncparseError(f"the number of analyses has to be 1 or more, not {k}")
