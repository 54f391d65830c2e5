"""Rectangles of SVG, and their arrangement next to and below each other."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

GAP = 28  # pixels between blocks
_CAPTION = 12  # pixels between a caption and its picture


@dataclass(frozen=True)
class Block:
    """A piece of a picture; its body is drawn from (0, 0) to (width, height), in pixels."""

    width: int
    height: int
    body: str


def shelve(blocks: Sequence[Block], limit: int | None = None, *, mirrored: bool = False) -> Block:
    """Put blocks side by side, and begin a new line before a block that would exceed `limit` (None: never).

    `mirrored` begins lines on the right.
    """
    places: list[tuple[int, int]] = []
    x = y = height = width = 0
    for block in blocks:
        if limit is not None and x and x + block.width > limit:
            x, y, height = 0, y + height + GAP, 0
        places.append((x, y))
        x += block.width + GAP
        width, height = max(width, x - GAP), max(height, block.height)
    placed = zip(places, blocks, strict=True)
    bodies = [_moved(width - x - block.width if mirrored else x, y, block) for (x, y), block in placed]
    return Block(width, y + height, "\n".join(bodies))


def stack(blocks: Sequence[Block]) -> Block:
    """Put blocks below each other."""
    return shelve(blocks, 0)


def captioned(block: Block, caption: str, *, mirrored: bool = False, size: int = 15) -> Block:
    """Put a line of text above a block, in a font of `size` pixels; on the right if the picture is mirrored."""
    if not caption:
        return block
    width = max(block.width, advance(caption, size))
    right_to_left = is_right_to_left([caption])
    x = width if mirrored else 0
    # The end of a right-to-left text is on its left.
    style = f'text-anchor="{"start" if mirrored == right_to_left else "end"}" fill="currentColor"'
    direction = ' direction="rtl"' if right_to_left else ""
    text = f'<text x="{x}" y="{size}" font-size="{size}" {style}{direction}>{escape(caption)}</text>'
    below = _moved(width - block.width if mirrored else 0, size + _CAPTION, block)
    return Block(width, block.height + size + _CAPTION, f"{text}\n{below}")


def _moved(x: int, y: int, block: Block) -> str:
    """Return the body of a block, moved right and down."""
    return f'<g transform="translate({x},{y})">\n{block.body}\n</g>' if x or y else block.body


_REFERENCES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;", "`": "&#96;"})
_SAFE_VALUE = re.compile(r"[\w#%.,() '\"+-]*")


def escape(text: str) -> str:
    """Return text escaped for HTML, SVG and XML, between tags and in quoted attributes.

    Characters that XML does not allow are first replaced by visible ones.
    """
    return visible(text).translate(_REFERENCES)


def is_style_value(text: str) -> bool:
    """Return whether a color or font is safe in a style: it must not end the declaration or load anything."""
    return bool(_SAFE_VALUE.fullmatch(text)) and "url" not in text.lower()


LEFT_TO_RIGHT_MARK = "\u200e"

# Advance widths in a common sans serif font, in hundredths of its size -> characters with this width.
_ADVANCES = {
    22: "ijl'|", 28: " ,./:;!fItr\\[]`", 35: '()-"*{}°', 50: "Jcksvxyz^?_", 56: "0123456789abdeghnopqu#$",
    67: "ABEFKLPSTVXYZ&+<=>~R", 74: "CDHNUw", 80: "GOQ", 86: "mM%", 98: "W@",
}  # fmt: skip
_ADVANCE = {character: width for width, characters in _ADVANCES.items() for character in characters}
_OTHER, _WIDE = 62, 104
_UNSEEN_DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def visible(text: str) -> str:
    """Return the text with a symbol in place of each character that would control a terminal or break a document.

    Control characters become their symbols (U+2400), white space other than the space becomes the symbol for a space;
    characters that switch the writing direction, surrogates and non-characters become U+FFFD.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_shown, text))


def columns(text: str) -> int:
    """Return the width of the text in terminal columns: two for wide characters, zero for combining ones."""
    if text.isascii():
        return len(text)
    return sum(map(_columns_of, text))


def advance(text: str, size: float) -> int:
    """Return the approximate width of text of this size in a sans serif font, rather too large than too small."""
    return int(sum(map(_advance_of, text)) * size / 95) + 1  # fonts differ: better too large


def is_right_to_left(words: Iterable[str]) -> bool:
    """Return whether most letters of the words are from right-to-left scripts."""
    balance = 0
    for character in "".join(words):
        direction = "L" if character.isascii() else unicodedata.bidirectional(character)
        balance += (direction in ("R", "AL")) - (direction == "L" and character.isalpha())
    return balance > 0


@lru_cache(maxsize=4096)
def _shown(character: str) -> str:
    code, category = ord(character), unicodedata.category(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if category in ("Zl", "Zp"):
        return "\u2424"
    is_no_character = code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF
    return "\ufffd" if category in ("Cc", "Cs") or is_no_character or character in _UNSEEN_DIRECTIONS else character


@lru_cache(maxsize=4096)
def _columns_of(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf") or 0x1160 <= ord(character) <= 0x11FF:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


@lru_cache(maxsize=4096)
def _advance_of(character: str) -> int:
    return _ADVANCE.get(character) or (0, _OTHER, _WIDE)[_columns_of(character)]
