"""Trees as text: drawn from the top down if that fits, or else as an outline; in Unicode or ASCII."""

from __future__ import annotations

from collections.abc import Collection
from numbers import Integral

from spacy_incparse.errors import ConfigError
from spacy_incparse.trees.arrays import children_by_size
from spacy_incparse.trees.tree import Tree
from spacy_incparse.viz.blocks import LEFT_TO_RIGHT_MARK, columns, is_right_to_left
from spacy_incparse.viz.options import Options
from spacy_incparse.viz.sketch import Layout, Sketch, SketchNode, lay_out, sketch

_MAX_CELLS = 1_000_000  # a larger drawing of a deep tree becomes an outline, whatever the width

# The characters of edges in Unicode and in ASCII: by 8 for a line up + 4 down + 2 to the left + 1 to the right; roofs.
_UNICODE = "   ─ ┌┐┬ └┘┴│├┤┼", "╱‾╲"
_ASCII = "   - ... '''|+++", "/-\\"
_DOWN = 12  # the number of the character for a line up and down


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
    options = Options(
        collapse=collapse, collapse_depth=collapse_depth, collapse_length=collapse_length, direction=direction
    )
    nodes = sketch(tree, options.folded(tree))
    layout = lay_out([node.size for node in nodes], [_node_width(node) for node in nodes], 1)
    n_rows = 2 * max(layout.depths) + 4
    if layout.width * n_rows > _MAX_CELLS or (width is not None and layout.width > width):
        return outline(nodes, ascii=ascii, width=width)
    return _drawn(nodes, layout, *(_ASCII if ascii else _UNICODE), options.is_mirrored(tree))


def _node_width(node: SketchNode) -> int:
    return max(columns(node.label), _text_width(node) + 2 * node.folded, 1)


def _text_width(node: SketchNode) -> int:
    return max(map(columns, node.lines), default=0)


def _drawn(nodes: Sketch, layout: Layout, lines: str, roof: str, mirrored: bool) -> str:
    depths = [layout.depths[i] for i, node in enumerate(nodes) if node.size > 1]
    bottom = 2 * max(depths, default=-1) + 2
    has_roofs = any(node.folded for node in nodes)
    n_rows = bottom + 1 + has_roofs + max(len(node.lines) for node in nodes)
    rows: list[list[tuple[int, str]]] = [[] for _ in range(n_rows)]  # texts, each with its first column

    def put(row: int, centre: int, text: str) -> None:
        """Write text centered on this column of the layout."""
        start = centre - columns(text) // 2
        rows[row].append((layout.width - start - columns(text) if mirrored else start, text))

    sizes = [node.size for node in nodes]
    for i, node in enumerate(nodes):
        centre, top = layout.centres[i], 2 * layout.depths[i]
        if node.size > 1:
            put(top, centre, node.label)
            centres = [layout.centres[k] for k in (i, *children_by_size(sizes, i))]
            parent, *children = [layout.width - 1 - k for k in centres] if mirrored else centres
            rows[top + 1].append(_edges(parent, children, lines))
            continue
        for row in range(top, bottom):
            put(row, centre, lines[_DOWN])
        put(bottom, centre, node.label)
        if has_roofs:
            width = _text_width(node) if node.folded else 0
            put(bottom + 1, centre, roof[0] + roof[1] * max(width - 2, 1) + roof[2] if width else lines[_DOWN])
        for row, line in enumerate(node.lines, start=bottom + 1 + has_roofs):
            put(row, centre, line)
    return "\n".join(map(_joined, rows))


def _edges(parent: int, children: list[int], lines: str) -> tuple[int, str]:
    """Return the line between a parent and its children, and its first column."""
    first, last, below = min(parent, *children), max(parent, *children), set(children)
    codes = (8 * (k == parent) + 4 * (k in below) + 2 * (k > first) + (k < last) for k in range(first, last + 1))
    return first, "".join(lines[code] for code in codes)


def _joined(pieces: list[tuple[int, str]]) -> str:
    line, filled = [], 0
    for column, text in sorted(pieces):
        line.append(" " * (column - filled))
        filled = column + columns(text)
        # The marks keep terminals that reorder words from swapping neighbors.
        line.append(f"{LEFT_TO_RIGHT_MARK}{text}{LEFT_TO_RIGHT_MARK}" if is_right_to_left([text]) else text)
    return "".join(line).rstrip()


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
