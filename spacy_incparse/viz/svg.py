"""Trees as SVG pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from spacy_incparse.trees.tree import Tree
from spacy_incparse.viz.blocks import Block, advance, escape, shelve, stack
from spacy_incparse.viz.options import INK, LINE, Look, Options, read_options
from spacy_incparse.viz.sketch import Layout, Sketch, SketchNode, lay_out, sketch, wrap

_MARGIN = 8


def svg(trees: Tree | Sequence[Tree], **options: Any) -> str:
    """Return an SVG document with the picture of a tree, or of several trees below each other.

    `options` are those of `Options`; the result can be saved as a file or embedded in a page. Raises ConfigError for
    an unknown option or an invalid value.
    """
    settings = read_options(options)
    several = [trees] if isinstance(trees, Tree) else list(trees)
    blocks = [tree_block(tree, settings, limit=settings.width) for tree in several]
    return document(stack(blocks), settings, " ".join(" ".join(tree.words) for tree in several))


def document(block: Block, options: Options, description: str) -> str:
    """Return a block as a separate document; `description` is for screen readers."""
    width, height = block.width + 2 * _MARGIN, block.height + 2 * _MARGIN
    # Otherwise notebooks shrink pictures to the width of a cell.
    style = f"max-width:none;height:{height}px;color:{options.color};background:{options.bg}"
    language = f' xml:lang="{escape(options.lang)}"' if options.lang else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="incparse" width="{width}" height="{height}" '
        f'viewBox="{-_MARGIN} {-_MARGIN} {width} {height}" role="img" aria-label="{escape(description)}"{language} '
        'direction="ltr" '
        f'style="{escape(style)}" font-family="{escape(options.font)}" text-anchor="middle">\n{block.body}\n</svg>'
    )


def tree_block(tree: Tree, options: Options, look: Look | None = None, *, limit: int | None = None) -> Block:
    """Return the picture of one tree as a block, in parts if it is wider than `limit` (None: in one part)."""
    metrics, mirrored = Metrics.of(options), options.is_mirrored(tree)
    look = look or Look(options.colors)
    nodes = sketch(tree, options.folded(tree))
    for node in nodes:
        node.sign = look.sign(node.index)
    parts = wrap(nodes, tree, metrics.width, metrics.gap, limit) if limit else [nodes]
    return shelve([paint(part, options, look, mirrored=mirrored) for part in parts], limit, mirrored=mirrored)


_PADDING = 6  # pixels between a label's letters and the edge of its plate
_NUMBER = 11  # font size of a part's number
_BEND = 5  # radius of an edge's corner


@dataclass(frozen=True)
class Metrics:
    """Sizes in pixels."""

    word: int  # font sizes
    label: int
    plate: int  # height of a label
    level: int  # between levels of the tree
    gap: int  # between words
    roof: int  # height of a triangle

    @classmethod
    def of(cls, options: Options) -> Metrics:
        """Return the sizes for the options."""
        return cls(15, 12, 19, 33, 9, 16) if options.compact else cls(16, 13, 22, 40, 14, 20)

    def __str__(self) -> str:
        return " ".join(map(str, (self.word, self.label, self.plate, self.level, self.gap, self.roof)))

    def width(self, node: SketchNode) -> int:
        """Return the drawn width of a node."""
        return max(self.plate_width(node), *(advance(line, self.word) for line in node.lines), 0)

    def plate_width(self, node: SketchNode) -> int:
        """Return the width of its label, with a part's number."""
        return advance(node.sign + node.label, self.label) + 2 * _PADDING + self.number_width(node)

    def number_width(self, node: SketchNode) -> int:
        """Return the width of a part's number."""
        return advance(str(node.part), _NUMBER) + 8 if node.part else 0


def paint(nodes: Sketch, options: Options, look: Look, *, mirrored: bool = False) -> Block:
    """Draw a sketch, from right to left if `mirrored`.

    Plates, edges and words are in the order of the sketch: the page's script relies on this.
    """
    return _Painter(nodes, options, look, mirrored).block()


class _Painter:
    def __init__(self, nodes: Sketch, options: Options, look: Look, mirrored: bool):
        self.nodes, self.options, self.look, self.mirrored = nodes, options, look, mirrored
        self.metrics = Metrics.of(options)
        widths = [self.metrics.width(node) for node in nodes]
        self.layout: Layout = lay_out([node.size for node in nodes], widths, self.metrics.gap)
        deepest = max((self.layout.depths[i] for i, node in enumerate(nodes) if node.size > 1), default=-1)
        self.bottom = (deepest + 1) * self.metrics.level  # of the labels over words
        has_roofs, has_labels = any(node.folded for node in nodes), options.tags or any(node.folded for node in nodes)
        self.text_top = self.bottom + has_labels * self.metrics.plate + has_roofs * self.metrics.roof

    def block(self) -> Block:
        line_height = self.metrics.word * 5 // 4
        n_lines = max(len(node.lines) for node in self.nodes)
        # Right-to-left lines must be marked; this does not change their position, since they are centered.
        direction = ' direction="rtl"' if self.mirrored else ""
        indices = range(len(self.nodes))
        edges = "\n".join(self._edge(i) for i in indices if self.layout.parents[i] >= 0)
        plates = "\n".join(map(self._plate, indices))
        words = "\n".join(self._words(i, line_height) for i in indices if self.nodes[i].size == 1)
        body = (
            f'<g class="edges" fill="none" stroke="{LINE}" stroke-width="1.25">\n{edges}\n</g>\n'
            f'<g class="labels" font-size="{self.metrics.label}">\n{plates}\n</g>\n'
            f'<g class="words" font-size="{self.metrics.word}" fill="currentColor"{direction}>\n{words}\n</g>'
        )
        return Block(self.layout.width, self.text_top + n_lines * line_height + 4, body)

    def _x(self, i: int) -> int:
        centre = self.layout.centres[i]
        return self.layout.width - centre if self.mirrored else centre

    def _top(self, i: int) -> int:
        """Return the top of a node's label."""
        return self.bottom if self.nodes[i].size == 1 else self.layout.depths[i] * self.metrics.level

    def _edge(self, i: int) -> str:
        """Draw the edge from a node's parent: down, across, down; the corner is rounded."""
        above = self.layout.parents[i]
        x, y, from_x, from_y = self._x(i), self._top(i), self._x(above), self._top(above) + self.metrics.plate
        node = self.nodes[i]
        end = self.text_top if node.size == 1 and not (self.options.tags or node.folded) else y
        middle = from_y + (self.metrics.level - self.metrics.plate) // 2
        if x == from_x:
            return f'<path d="M{x},{from_y}V{end}"/>'
        bend = min(_BEND, abs(x - from_x)) * (1 if x > from_x else -1)
        return f'<path d="M{from_x},{from_y}V{middle}H{x - bend}Q{x},{middle} {x},{middle + abs(bend)}V{end}"/>'

    def _plate(self, i: int) -> str:
        node = self.nodes[i]
        is_tag = node.size == 1 and not node.folded
        place = f'<g class="{"tag" if is_tag else "phrase"}" transform="translate({self._x(i)},{self._top(i)})">'
        if is_tag:
            label = f'<text y="{self._baseline()}" fill="currentColor">{escape(node.label)}</text>'
            return f"{place}{label if self.options.tags else ''}</g>"
        return f"{place}{self._coloured(node)}{self._number(node)}</g>"

    def _coloured(self, node: SketchNode) -> str:
        width, number = self.metrics.plate_width(node), self.metrics.number_width(node)
        fill, border = escape(self.look.fill(node.index, node.label)), self.look.border(node.index)
        place = f'x="{-width // 2}" width="{width}" height="{self.metrics.plate}"'
        return (
            f'<rect {place} rx="5" fill="{fill}"{border}/>'
            f'<text x="{-number // 2}" y="{self._baseline()}" fill="{INK}">{escape(node.sign + node.label)}</text>'
        )

    def _number(self, node: SketchNode) -> str:
        if not node.part:
            return ""
        width, height = self.metrics.number_width(node) - 2, self.metrics.plate - 6
        x = self.metrics.plate_width(node) // 2 - width - 3
        place = f'x="{x + width // 2}" y="{self._baseline() - 1}"'
        return (
            f'<rect x="{x}" y="3" width="{width}" height="{height}" rx="{height // 2}" fill="#57606a"/>'
            f'<text {place} font-size="{_NUMBER}" fill="#fff">{node.part}</text>'
        )

    def _baseline(self) -> int:
        return (self.metrics.plate + self.metrics.label * 7 // 10) // 2

    def _words(self, i: int, line_height: int) -> str:
        node, x = self.nodes[i], self._x(i)
        pieces = [self._roof(i)] if node.folded and node.lines else []
        for number, line in enumerate(node.lines):
            y = self.text_top + number * line_height + self.metrics.word
            pieces.append(f'<text x="{x}" y="{y}">{escape(line)}</text>')
        return "".join(pieces)

    def _roof(self, i: int) -> str:
        x, half = self._x(i), max(advance(line, self.metrics.word) for line in self.nodes[i].lines) // 2
        top, foot = self.bottom + self.metrics.plate, self.text_top
        return f'<path d="M{x},{top}L{x - half},{foot}H{x + half}Z" fill="none" stroke="{LINE}" stroke-width="1.25"/>'
