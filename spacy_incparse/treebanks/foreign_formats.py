"""Unsupported treebank formats: detected, and rejected by name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from spacy_incparse.errors import TreebankError

_BEGINNING = 5_000  # number of characters that are checked for the format
_NEGRA = re.compile(r"^(?:#FORMAT\s|#BO[ST]\s|%%\s*word\s)", re.IGNORECASE | re.MULTILINE)
_XML = re.compile(r"\s*<(?:\?xml|!|\w+[\s>])")
_JSON = re.compile(r'\s*\{\s*"')
_TIGER = re.compile(r"<(?:corpus|subcorpus|s|graph|terminals)[\s>]")
_INDEXED_WORD = re.compile(r"(\d+)=.+", re.DOTALL)
_ADVICE = "is not supported yet; convert it to Penn bracketing (continuous trees) first"


def refuse_other_formats(text: str, path: Path | str) -> None:
    """Raise TreebankError if a text is in the NEGRA export format, in TIGER XML, in other XML or in JSON."""
    beginning = text[:_BEGINNING]
    if _NEGRA.search(beginning):
        raise TreebankError(path, 1, 1, f"this file is in the NEGRA export format, which {_ADVICE}")
    if _JSON.match(beginning):
        what = "`search` reads JSON lines from files whose names end in .jsonl or .json"
        raise TreebankError(path, 1, 1, f"this file is JSON, and trees in brackets are expected; {what}")
    if _XML.match(beginning):
        name = "TIGER XML" if _TIGER.search(beginning) else "XML"
        raise TreebankError(path, 1, 1, f"this file is in {name}, which {_ADVICE}")


def refuse_discontinuous(words: Sequence[str], rest_of_line: str, path: Path | str) -> None:
    """Raise TreebankError if the words of a tree are indices, as in discontinuous brackets.

    Two spellings exist: words like `0=Rain`, and bare indices with the sentence after the tree, on the same line. A
    single word like `0=Rain` proves nothing: the tree to check is the first one with two.
    """
    matches = [_INDEXED_WORD.fullmatch(word) for word in words]
    if len(matches) > 1 and all(matches):
        indices = [match.group(1) for match in matches if match]
    elif rest_of_line.strip() and "(" not in rest_of_line:
        indices = list(words)
    else:
        return
    if sorted(indices) == sorted(map(str, range(len(indices)))):
        raise TreebankError(path, 1, 1, f"this file has discontinuous brackets (words by index), which {_ADVICE}")
