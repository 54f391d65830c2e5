"""Trees as text: drawn from the top down if that fits, or else as an outline; in Unicode or ASCII."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from numbers import Integral

from spacy_incparse.errors import ConfigError
from spacy_incparse.trees.tree import Tree
from spacy_incparse.viz.blocks import LEFT_TO_RIGHT_MARK, columns, is_right_to_left
from spacy_incparse.viz.options import read_options
from spacy_incparse.viz.sketch import Layout, Sketch, SketchNode, child_indices, lay_out, sketch

_MAX_CELLS = 1_000_000  # a larger drawing of a deep tree becomes an outline, whatever the width


@dataclass(frozen=True)
class _Lines:
    """The characters of edges, where they end or meet between the labels of a parent and its children."""

    across: str
    down: str
    left: str  # the leftmost child
    right: str
    child: str  # a child between them
    parent: str  # the parent, with no child directly below it
    both: str  # the parent, with a child directly below it
    left_both: str
    right_both: str
    left_parent: str  # the parent, with all children to its right
    right_parent: str
    roof: tuple[str, str, str]


_UNICODE = _Lines("─", "│", "┌", "┐", "┬", "┴", "┼", "├", "┤", "└", "┘", ("╱", "‾", "╲"))
_ASCII = _Lines("-", "|", ".", ".", ".", "'", "+", "+", "+", "'", "'", ("/", "-", "\\"))


def draw(
    tree: Tree,
    *,
    ascii: bool = False,
    width: int | None = 80,
    collapse: Collection[str] = (),
    collapse_depth: int | None = None,
    collapse_length: int | None = None,
    direction: str | None = None,
) -> str:
    """Return the tree drawn in characters, with its words in one line at the bottom.

    If that takes more than `width` columns (None: no limit), the result is an outline with one node per line. With
    `ascii` edges have ASCII characters; labels and words stay the same. Wide and combining characters count as
    terminals show them; right-to-left words are ordered from right to left, unless `direction` is "ltr". Phrases with a
    label in `collapse`, `collapse_depth` levels below the tree, or of two to `collapse_length` words are drawn as a
    roof over their words. Raises ConfigError for a value that an option cannot have.
    """
    if width is not None and (not isinstance(width, Integral) or width < 1):
        raise ConfigError(f'the option "width" is {width!r}; it must be a whole number from 1, or None')
    options = read_options(
        {
            "collapse": collapse,
            "collapse_depth": collapse_depth,
            "collapse_length": collapse_length,
            "direction": direction,
        }
    )
    folded = options.folded(tree)
    nodes = sketch(tree, folded)
    layout = lay_out([node.size for node in nodes], [_node_width(node) for node in nodes], 1)
    n_rows = 2 * max(layout.depths) + 4
    if layout.width * n_rows > _MAX_CELLS or (width is not None and layout.width > width):
        return outline(nodes, ascii=ascii, width=width)
    return _drawn(nodes, layout, _ASCII if ascii else _UNICODE, options.is_mirrored(tree))


class _Canvas:
    """Rows of text, each a list of pieces by their first column; mirrored if the words run from right to left."""

    def __init__(self, n_rows: int, width: int, mirrored: bool):
        self._rows: list[list[tuple[int, str]]] = [[] for _ in range(n_rows)]
        self._width, self._mirrored = width, mirrored

    def column(self, centre: int) -> int:
        """Return the column of the canvas for this column of the layout."""
        return self._width - 1 - centre if self._mirrored else centre

    def put(self, row: int, column: int, text: str) -> None:
        """Write text, starting at this column of the canvas."""
        self._rows[row].append((column, text))

    def centred(self, row: int, centre: int, text: str) -> None:
        """Write text centered on this column of the layout."""
        width = columns(text)
        start = centre - width // 2
        self.put(row, self._width - start - width if self._mirrored else start, text)

    def __str__(self) -> str:
        return "\n".join(map(self._line, self._rows))

    def _line(self, pieces: list[tuple[int, str]]) -> str:
        line, filled = [], 0
        for column, text in sorted(pieces):
            line.append(" " * (column - filled))
            filled = column + columns(text)
            # The marks keep terminals that reorder words from swapping neighbors.
            line.append(f"{LEFT_TO_RIGHT_MARK}{text}{LEFT_TO_RIGHT_MARK}" if is_right_to_left([text]) else text)
        return "".join(line).rstrip()


def _node_width(node: SketchNode) -> int:
    return max(columns(node.label), _text_width(node) + 2 * node.folded, 1)


def _text_width(node: SketchNode) -> int:
    return max(map(columns, node.lines), default=0)


def _drawn(nodes: Sketch, layout: Layout, lines: _Lines, mirrored: bool) -> str:
    bottom = 2 * max((layout.depths[i] for i, node in enumerate(nodes) if node.size > 1), default=-1) + 2
    has_roofs = any(node.folded for node in nodes)
    n_lines = max(len(node.lines) for node in nodes)
    canvas = _Canvas(bottom + 1 + has_roofs + n_lines, layout.width, mirrored)
    sizes = [node.size for node in nodes]
    for i, node in enumerate(nodes):
        centre, top = layout.centres[i], 2 * layout.depths[i]
        if node.size > 1:
            canvas.centred(top, centre, node.label)
            _draw_edges(canvas, top + 1, centre, [layout.centres[c] for c in child_indices(sizes, i)], lines)
            continue
        for row in range(top, bottom):
            canvas.put(row, canvas.column(centre), lines.down)
        canvas.centred(bottom, centre, node.label)
        if has_roofs:
            _draw_roof(canvas, bottom + 1, centre, _text_width(node) if node.folded else 0, lines)
        for row, line in enumerate(node.lines, start=bottom + 1 + has_roofs):
            canvas.centred(row, centre, line)
    return str(canvas)


def _draw_edges(canvas: _Canvas, row: int, centre: int, children: list[int], lines: _Lines) -> None:
    parent = canvas.column(centre)
    below = {canvas.column(child) for child in children}
    first, last = min(parent, *below), max(parent, *below)
    if first == last:
        canvas.put(row, first, lines.down)
        return
    text = [lines.across] * (last - first + 1)
    for column in below:
        text[column - first] = lines.child
    text[0], text[-1] = lines.left, lines.right
    corners = {first: (lines.left_parent, lines.left_both), last: (lines.right_parent, lines.right_both)}
    text[parent - first] = corners.get(parent, (lines.parent, lines.both))[parent in below]
    canvas.put(row, first, "".join(text))


def _draw_roof(canvas: _Canvas, row: int, centre: int, width: int, lines: _Lines) -> None:
    left, middle, right = lines.roof
    canvas.centred(row, centre, left + middle * max(width - 2, 1) + right if width else lines.down)


_DEEPEST = 100  # levels of indentation if no width is given
_LINE = 16  # otherwise, the columns left for text


def outline(nodes: Sketch, *, ascii: bool = False, width: int | None = None) -> str:
    """Return the nodes of a sketch, one per line, in at most about `width` columns.

    A phrase with too much indentation is replaced by a number, and written below at the margin, after the same
    number. So the outline of a deep tree takes linear space.
    """
    down, branch, last = ("|  ", "|- ", "`- ") if ascii else ("│  ", "├─ ", "└─ ")
    deepest = max((width - _LINE) // len(down), 2) if width else _DEEPEST
    lines: list[str] = []
    waiting = [0]  # roots of the parts to write, as positions in the sketch
    for number, root in enumerate(waiting):
        path: list[int] = []  # the open phrases: one after the last node of each
        indents = [""]
        i = root
        if number:
            lines += ["", f"[{number}]"]
        while i < root + nodes[root].size:
            while path and path[-1] <= i:
                path.pop()
                indents.pop()
            node = nodes[i]
            behind = i + node.size
            is_last = not path or behind == path[-1]
            edge = "" if i == root else last if is_last else branch
            lines.append(" ".join([indents[-1] + edge + node.label, *node.lines]).rstrip())
            if node.size > 1 and len(path) == deepest:
                lines[-1] += f" [{len(waiting)}]"
                waiting.append(i)
                i = behind
                continue
            if node.size > 1:
                path.append(behind)
                indents.append("" if i == root else indents[-1] + ("   " if is_last else down))
            i += 1
    return "\n".join(lines)
