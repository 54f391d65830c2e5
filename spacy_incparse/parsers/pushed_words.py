"""Validation of words pushed to a session, and of the number of analyses requested."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from numbers import Integral
from typing import Any

from spacy_incparse.errors import IncparseError
from spacy_incparse.parsers.parse import Tag

_BLANKS = " \t\n\r\v\f"  # separate words; other blanks, such as the no-break space, can be part of a word
MOST_ANALYSES = 2**31 - 1  # the compiled code has 32 bits for it
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
    elif tag is not None:  # a tagger's choices, which may include tags that the parser does not know
        _check_tags(word, tag)


def _check_tags(word: str, tags: Any) -> None:
    """Raise IncparseError unless these are pairs of a tag and its distance from the best, best first."""
    is_list = isinstance(tags, list | tuple) and all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in tags)
    if not (is_list and tags and all(isinstance(tag, str) and _is_gap(gap) for tag, gap in tags)):
        raise IncparseError(
            f"{tags!r} is not a tag (for {word!r}): pass a string, or a list of pairs of a tag and its distance from "
            f"the best"
        )


def _is_gap(gap: Any) -> bool:
    return isinstance(gap, int | float) and isfinite(gap)


def check_n_analyses(k: int) -> None:
    """Raise IncparseError unless the number of analyses is a positive integer."""
    if isinstance(k, bool) or not isinstance(k, Integral):
        raise IncparseError(f"the number of analyses has to be a whole number, not {k!r}")
    if k < 1:
        raise IncparseError(f"the number of analyses has to be 1 or more, not {k}")
    if k > MOST_ANALYSES:
        raise IncparseError(f"the number of analyses has to be at most {MOST_ANALYSES:,}, not {k}")
