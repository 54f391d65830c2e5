"""Checks of what is pushed onto a session, and of how many analyses are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

from spacy_incparse.errors import IncparseError
from spacy_incparse.parsers.parse import Tag

_BLANKS = " \t\n\r\v\f"  # they separate words; other blanks, such as the one that does not break, may be part of one
NO_WORDS = "there are no words yet: push() gives the session with one more, as in session = session.push('The')"


def check_word(word: str, tag: Tag, known: Sequence[str]) -> None:
    """Raise IncparseError for what is no word, and for a tag that is none of those that the parser knows."""
    if not isinstance(word, str):
        raise IncparseError(f"a word has to be a string, not {word!r}: of a token push token.text")
    if not word.strip() or any(blank in word for blank in _BLANKS):
        raise IncparseError(f"{word!r} is not one word: push the words one by one")
    if isinstance(tag, str):
        if tag and tag not in known:
            choice = ", ".join(sorted(known))
            raise IncparseError(f"the parser knows no tag {tag!r} (for {word!r}): choose among {choice}")
    elif tag is not None:
        _check_tags(word, tag)


def _check_tags(word: str, tags: Any) -> None:
    """Raise IncparseError for what are no tags with their gaps, the best first."""
    is_list = isinstance(tags, list | tuple) and all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in tags)
    if not (is_list and tags and all(isinstance(tag, str) and isinstance(gap, int | float) for tag, gap in tags)):
        raise IncparseError(
            f"{tags!r} is no tag (of {word!r}): give a string, or a list of pairs, tags with their distance to the best"
        )


def check_n_analyses(k: int) -> None:
    """Raise IncparseError for a number of analyses that nobody can be given."""
    if isinstance(k, bool) or not isinstance(k, Integral):
        raise IncparseError(f"the number of analyses has to be a whole number, not {k!r}")
    if k < 1:
        raise IncparseError(f"the number of analyses has to be 1 or more, not {k}")
