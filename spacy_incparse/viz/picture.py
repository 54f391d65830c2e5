"""The pictures of a user's trees, and their markup in each style, outside a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from spacy_incparse.errors import ConfigError
from spacy_incparse.trees.tree import Tree
from spacy_incparse.viz.blocks import Block, captioned, shelve, stack
from spacy_incparse.viz.bracket_text import brackets
from spacy_incparse.viz.colors import DIFFERENT, Look, Mark
from spacy_incparse.viz.comparison import compare
from spacy_incparse.viz.markup import escape
from spacy_incparse.viz.options import Options
from spacy_incparse.viz.spans import spans_block
from spacy_incparse.viz.svg import document, tree_block

STYLES = ("tree", "brackets", "spans")


@dataclass(frozen=True)
class Entry:
    """A tree, its caption, and the nodes to highlight in it (see `colors.Look`)."""

    tree: Tree
    caption: str = ""
    marks: Mapping[int, Mark] = field(default_factory=dict)
    plain: bool = False

    def look(self, options: Options) -> Look:
        """Return the colors of the nodes."""
        return Look(options.colors, self.marks, self.plain)


@dataclass(frozen=True)
class Picture:
    """The trees of a document; the trees of a row are drawn side by side."""

    rows: Sequence[Sequence[Entry]]
    options: Options = field(default_factory=Options)
    title: str = ""

    @property
    def words(self) -> str:
        """The words of the first tree of each row."""
        return " ".join(" ".join(row[0].tree.words) for row in self.rows)


def check_style(style: str) -> str:
    """Return the style. Raises ConfigError if it is unknown."""
    if style not in STYLES:
        raise ConfigError(f"unknown style {style!r} for pictures: choose from {', '.join(map(repr, STYLES))}")
    return style


def compared(gold: Tree, parsed: Tree) -> list[Entry]:
    """Return the row for two trees over the same words, with their differences marked. See `comparison.compare`."""
    difference = compare(gold, parsed)
    return [
        Entry(gold, "gold", difference.gold, plain=True),
        Entry(parsed, f"parsed: {difference.summary}", difference.parsed, plain=True),
    ]


def side_by_side(trees: Sequence[Tree], captions: Sequence[str]) -> list[Entry]:
    """Return the row for several analyses of a sentence: nodes that the first one lacks are marked in the others."""
    pairs = zip(trees, captions, strict=True)
    return [Entry(tree, caption, dict.fromkeys(compare(trees[0], tree).parsed, DIFFERENT)) for tree, caption in pairs]


def markup(picture: Picture, style: str) -> str:
    """Return a picture as one SVG document or, in the style "brackets", as one HTML element."""
    options = picture.options
    if style == "brackets":
        title = f'<h2 style="margin:0">{escape(picture.title)}</h2>' if picture.title else ""
        return f"<div>{title}{''.join(_bracket_row(row, options) for row in picture.rows)}</div>"
    rows = [_row(row, style, options) for row in picture.rows]
    mirrored = bool(picture.rows) and options.is_mirrored(picture.rows[0][0].tree)
    sheet = captioned(stack(rows), picture.title, mirrored=mirrored, size=20)
    return document(sheet, options, picture.words)


def minified(html: str) -> str:
    """Return markup without the line breaks between its elements; its texts contain no line breaks."""
    return html.replace(">\n", ">").replace("\n<", "<").strip()


def entry_block(entry: Entry, style: str, options: Options, limit: int | None) -> Block:
    """Return one tree in the style "tree" or "spans", without its caption."""
    if style == "spans":
        return spans_block(entry.tree, options, entry.look(options), limit=limit)
    return tree_block(entry.tree, options, entry.look(options), limit=limit)


def _row(row: Sequence[Entry], style: str, options: Options) -> Block:
    """Put trees side by side, each as wide as the options allow for one."""
    blocks = []
    for entry in row:
        block = entry_block(entry, style, options, options.width)
        blocks.append(captioned(block, entry.caption, mirrored=options.is_mirrored(entry.tree)))
    return shelve(blocks, mirrored=bool(row) and options.is_mirrored(row[0].tree))


def _bracket_row(row: Sequence[Entry], options: Options) -> str:
    captions = [f"<div><b>{escape(entry.caption)}</b></div>" if entry.caption else "" for entry in row]
    pieces = zip(captions, (brackets(entry.tree, options, entry.look(options)) for entry in row), strict=True)
    return "\n".join(caption + text for caption, text in pieces)
