"""Conversion between the spelling of words in treebanks and raw text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

BRACKETS = {"(": "LRB", ")": "RRB", "[": "LSB", "]": "RSB", "{": "LCB", "}": "RCB"}
_BY_NAME = {name: bracket for bracket, name in BRACKETS.items()} | {"EMPTY": ""}

_NAME = r"(?:[LR][RSC]B|EMPTY|U[0-9A-F]{4})"
_ESCAPED = re.compile(rf"-({_NAME})-|\\(\\*(?:{_NAME}|[/*]))")
_GUARDED_QUOTE = re.compile(r"\\+(?:``|''|`)")
_NEEDS_GUARD = re.compile(rf"(?<=-)({_NAME})|(\\+(?:{_NAME}|[/*]))")
_NEEDS_GUARD_PENN = re.compile(rf"(?<=-)({_NAME})|(\\+{_NAME}|\\*[/*])")
_BREAKS_BRACKETS = re.compile(r"[()\s]")
_BREAKS_LABELS = re.compile(r"[() \t\r\n\f\v]")  # labels are not unescaped; readers keep other white space in them
_BREAKS_COLUMNS = re.compile(r"^(?:#|%(?=%))|[\s\x00-\x1f\x7f\ufffe\uffff]")
_PENN_BRACKETS = re.compile(r"[()\[\]{}\s]")
_QUOTES = ("``", "''")
_PENN_WORDS = frozenset(["``", *(f"-{name}-" for name in BRACKETS.values())])


# Words written without a space to their left, to their right, or on both sides.
_CLOSING = frozenset([*",.;:?!%)]}…”»¢°", "...", "?!", "!?", "!!", "??"])
_OPENING = frozenset([*"([{“«‘¿¡$£€¥#", "US$", "C$", "A$", "HK$"])
_LINKING_TAGS = frozenset(["HYPH"])
_CLITIC = re.compile(r"n['’]t|['’](?:s|m|d|re|ve|ll)?", re.IGNORECASE)
_SPLIT_WORDS = frozenset(["can not", "gon na", "wan na", "got ta", "gim me", "lem me", "d' ye", "'t is", "'t was"])


def penn_to_raw(word: str, tag: str | None = None) -> str:
    r"""Return the raw form of a treebank's word; `tag` distinguishes an opening single quote from a backquote.

    Inside the package every word is raw text. Three spellings of a word exist:

    * raw: the word as in running text: ``(``, ``"``, ``1/2``;
    * bracket-safe: raw, but with the characters escaped that would break a bracket file (``escape_brackets``);
    * Penn: as in the Penn Treebank: ``-LRB-``, two backquotes, ``1\/2`` (``raw_to_penn``).

    ``penn_to_raw`` reads both escaped spellings. A backslash protects a raw word that looks like an escape, so that
    every word survives the round trip: raw ``-LRB-`` is written ``-\LRB-``, raw ``\/`` is written ``\\/``. The table is
    in docs/formats.md.
    """
    if "-" in word or "\\" in word:
        if _GUARDED_QUOTE.fullmatch(word):
            return word[1:]
        return _ESCAPED.sub(_unescape, word)
    if word in _QUOTES:
        return '"'
    return "'" if word == "`" and tag == "``" else word


def penn_spelled(words: Iterable[str]) -> str | None:
    """Return the first word in the spelling of the Penn Treebank, such as -LRB-, but not ''; None without any."""
    return next((word for word in words if word in _PENN_WORDS or "\\/" in word or "\\*" in word), None)


def raw_word(word: str, tag: str | None = None) -> str:
    """Return `penn_to_raw` of a word, but the word itself where that is no word, as for -EMPTY-."""
    return penn_to_raw(word, tag).strip() or word


def penn_to_text(text: str) -> str:
    """Return a text in the spelling of the Penn Treebank, with blanks around its words, as raw text."""
    return re.sub(r"\S+", lambda word: raw_word(word[0]), text)


def escape_brackets(word: str) -> str:
    """Return a raw word in the spelling for bracket files: only characters that would break the file are escaped.

    `penn_to_raw` is the inverse for every word.
    """
    if word.isalnum():
        return word
    return _escape(word, _NEEDS_GUARD, _BREAKS_BRACKETS)


def escape_columns(word: str) -> str:
    """Return a raw word for a table or XML: as `escape_brackets`, but with white space and a first # or %% escaped."""
    return word if word.isalnum() else _escape(word, _NEEDS_GUARD, _BREAKS_COLUMNS)


def escape_label(label: str) -> str:
    """Return a label in the spelling for bracket files; the tags -LRB- and -RRB- need no escape."""
    return label if label.isalnum() else _BREAKS_LABELS.sub(_name_of, label)


def raw_to_penn(words: Sequence[str], tags: Sequence[str] | None = None) -> list[str]:
    """Return the words of one sentence in Penn spelling.

    The tag of a double quote says whether it opens or closes; without such a tag, quotes alternate.
    `penn_to_raw` with the same tags restores the raw words.
    """
    tags = [""] * len(words) if tags is None else tags
    opens = quote_directions(words, tags)
    return [_to_penn(word, tag, is_open) for word, tag, is_open in zip(words, tags, opens, strict=True)]


def quote_directions(words: Iterable[str], tags: Iterable[str]) -> list[bool]:
    """Return for each word whether it would open as a double quote: by its tag, or else by alternation."""
    directions, inside = [], False
    for word, tag in zip(words, tags, strict=True):
        is_open = tag == "``" or (tag != "''" and not inside)
        if word == '"':
            inside = is_open
        directions.append(is_open)
    return directions


def detokenize(words: Sequence[str], tags: Sequence[str] | None = None) -> tuple[str, list[int]]:
    """Return the text of a sentence with natural spacing, and the character offset of each word."""
    offsets, length = [], 0
    pieces = [word + " " * space for word, space in zip(words, spaces_after(words, tags), strict=True)]
    for piece in pieces:
        offsets.append(length)
        length += len(piece)
    text = "".join(pieces)
    return text[:-1] if pieces else text, offsets


def spaces_after(words: Sequence[str], tags: Sequence[str] | None = None, clitics: Collection[str] = ()) -> list[bool]:
    """Return for each word of a sentence whether a space follows it in natural, English-like text.

    A space also follows the last word. Quotes open or close by their tags; without tags they alternate. Words in
    `clitics` are written at the end of the word before.
    """
    tags = [""] * len(words) if tags is None else tags
    is_single = [word == "'" and tag != "POS" for word, tag in zip(words, tags, strict=True)]
    singles = quote_directions(['"' if single else "" for single in is_single], tags)
    doubles = quote_directions(words, tags)
    sides = []
    for word, single, single_opens, double_opens in zip(words, is_single, singles, doubles, strict=True):
        opens = single_opens if single else double_opens
        sides.append(("open" if opens else "close") if single or word == '"' else "")
    glued = [_glued(word, tag, side) for word, tag, side in zip(words, tags, sides, strict=True)]
    spaces = [
        not (
            glued[i][1]
            or glued[i + 1][0]
            or (words[i + 1] in clitics and words[i].isalpha())
            or f"{words[i]} {words[i + 1]}".lower() in _SPLIT_WORDS
        )
        for i in range(len(words) - 1)
    ]
    return [*spaces, True][: len(words)]


def spaces_in(text: str, words: Sequence[str]) -> list[bool] | None:
    """Return for each word whether a space follows it in a text, and at the end; None if the text has other words."""
    found, place = [], 0
    for word in words:
        if not text.startswith(word, place):
            return None
        behind = len(text) - len(text[place + len(word) :].lstrip())
        found.append(behind > place + len(word) or behind == len(text))
        place = behind
    return found if place == len(text) else None


def _glued(word: str, tag: str, side: str) -> tuple[bool, bool]:
    """Return whether a word has no space to its left, and whether it has none to its right."""
    if side:
        return side == "close", side == "open"
    if tag in _LINKING_TAGS or word == "/":
        return True, True
    if word == "’" and tag == "''":
        return True, False
    return word in _CLOSING or _CLITIC.fullmatch(word) is not None, word in _OPENING


def _to_penn(word: str, tag: str, is_open: bool) -> str:
    if word == '"':
        return "``" if is_open else "''"
    if word == "'" and tag == "``":
        return "`"
    if word.isalnum():
        return word
    guard = _NEEDS_GUARD if tag == "-NONE-" else _NEEDS_GUARD_PENN
    return _escape(word, guard, _PENN_BRACKETS)


def _escape(word: str, guard: re.Pattern[str], breaking: re.Pattern[str]) -> str:
    if word in _QUOTES or word == "`" or _GUARDED_QUOTE.fullmatch(word):
        return "\\" + word
    guarded = guard.sub(r"\\\g<0>", word)
    return breaking.sub(_name_of, guarded) or "-EMPTY-"


def _name_of(match: re.Match[str]) -> str:
    character = match.group()
    return f"-{BRACKETS.get(character) or f'U{ord(character):04X}'}-"


def _unescape(match: re.Match[str]) -> str:
    name, guarded = match.groups()
    if name is None:
        return guarded
    return _BY_NAME[name] if name in _BY_NAME else chr(int(name[1:], 16))
