"""Rectangles of SVG, and their arrangement next to and below each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spacy_incparse.viz.markup import escape
from spacy_incparse.viz.text_width import advance, is_right_to_left

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
    placed: list[tuple[int, int, Block]] = []
    x = y = height = width = 0
    for block in blocks:
        if limit is not None and x and x + block.width > limit:
            x, y, height = 0, y + height + GAP, 0
        placed.append((x, y, block))
        x += block.width + GAP
        width, height = max(width, x - GAP), max(height, block.height)
    places = [(width - x - block.width if mirrored else x, y, block) for x, y, block in placed]
    return Block(width, y + height, "\n".join(moved(*place) for place in places))


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
    below = moved(width - block.width if mirrored else 0, size + _CAPTION, block)
    return Block(width, block.height + size + _CAPTION, f"{text}\n{below}")


def moved(x: int, y: int, block: Block) -> str:
    """Return the body of a block, moved right and down."""
    return f'<g transform="translate({x},{y})">\n{block.body}\n</g>' if x or y else block.body
