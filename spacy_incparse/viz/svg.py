"""Trees as SVG pictures: drawn as trees, or as colored bars under the text."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from spacy_incparse.errors import IncparseError, optional_module
from spacy_incparse.settings import check_choice
from spacy_incparse.trees.arrays import children_by_size
from spacy_incparse.trees.empties import co_indexed
from spacy_incparse.trees.tree import Tree
from spacy_incparse.viz.blocks import Block, advance, escape, shelve, stack, visible
from spacy_incparse.viz.options import INK, LINE, Look, Options, read_options
from spacy_incparse.viz.sketch import Sketch, SketchNode, lay_out, sketch, wrap

_MARGIN = 8
CAIRO_FORMATS = ("png", "pdf")


def svg(trees: Tree | Sequence[Tree], **options: Any) -> str:
    """Return an SVG document with the picture of a tree, or of several trees below each other.

    `options` are those of `Options`; the result can be saved as a file or embedded in a page. Raises ConfigError for
    an unknown option or an invalid value.
    """
    settings = read_options(options)
    several = [trees] if isinstance(trees, Tree) else list(trees)
    blocks = [tree_block(tree, settings, Look(settings.colors), settings.width) for tree in several]
    return document(stack(blocks), settings, " ".join(" ".join(tree.words) for tree in several))


def converted(svg: str, format_: str, *, scale: float = 2) -> bytes:
    """Return an SVG document as "png" or "pdf", with its size multiplied by `scale`.

    Raises IncparseError if cairosvg is not installed, and ConfigError for other formats.
    """
    check_choice("the format of a picture", format_, CAIRO_FORMATS)
    return getattr(cairo_module(), f"svg2{format_}")(bytestring=svg.encode(), scale=scale)


def cairo_module() -> Any:
    """Return cairosvg. Raises IncparseError, saying what to install, if it or the library that it needs is missing."""
    try:
        return optional_module("cairosvg", "pictures", "PNG and PDF need cairosvg")
    except OSError as error:
        raise IncparseError(f"PNG and PDF need the library cairo: {str(error).splitlines()[0]}") from None


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


def tree_block(tree: Tree, options: Options, look: Look, limit: int | None) -> Block:
    """Return the picture of one tree as a block, in parts if it is wider than `limit` (None: in one part)."""
    metrics, mirrored = Metrics.of(options), options.is_mirrored(tree)
    tree = tree.with_empties() if options.traces else tree
    arrows = co_indexed(tree.arrays) if options.traces else []
    nodes = sketch(tree, options.folded(tree))
    for node in nodes:
        node.sign = look.sign(node.index)
    parts = wrap(nodes, tree, metrics.width, metrics.gap, limit) if limit else [nodes]
    return shelve([_paint(part, options, look, mirrored, arrows) for part in parts], limit, mirrored=mirrored)


_PADDING = 6  # pixels between a label's letters and the edge of its plate
_NUMBER = 11  # font size of a part's number
_BEND = 5  # radius of an edge's corner
_DEPTH = 12  # of the shortest arrow below the words


class Metrics(NamedTuple):
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

    def width(self, node: SketchNode) -> int:
        """Return the drawn width of a node."""
        return max(self.plate_width(node), *(advance(line, self.word) for line in node.lines), 0)

    def plate_width(self, node: SketchNode) -> int:
        """Return the width of its label, with a part's number."""
        return advance(node.sign + node.label, self.label) + 2 * _PADDING + self.number_width(node)

    def number_width(self, node: SketchNode) -> int:
        """Return the width of a part's number."""
        return advance(str(node.part), _NUMBER) + 8 if node.part else 0


def _paint(
    nodes: Sketch, options: Options, look: Look, mirrored: bool, arrows: Sequence[tuple[int, int]] = ()
) -> Block:
    """Draw a sketch, from right to left if `mirrored`, with arrows below it from nodes to others, by their numbers.

    Plates, edges and words are in the order of the sketch: the page's script relies on this.
    """
    sizes = Metrics.of(options)
    layout = lay_out([node.size for node in nodes], list(map(sizes.width, nodes)), sizes.gap)
    xs = [layout.width - x for x in layout.centres] if mirrored else layout.centres
    levels = [-1 if node.size == 1 else depth for node, depth in zip(nodes, layout.depths, strict=True)]
    bottom = (max(levels) + 1) * sizes.level  # of the labels over words
    tops = [bottom if level < 0 else level * sizes.level for level in levels]
    has_roofs = any(node.folded for node in nodes)
    text_top = bottom + (options.tags or has_roofs) * sizes.plate + has_roofs * sizes.roof
    line_height = sizes.word * 5 // 4
    edges, plates, words = [], [], []
    for node, parent, x, top in zip(nodes, layout.parents, xs, tops, strict=True):
        if parent >= 0:  # down, across, down; the corner is rounded
            end = text_top if node.size == 1 and not (options.tags or node.folded) else top
            from_x, from_y = xs[parent], tops[parent] + sizes.plate
            middle, bend = from_y + (sizes.level - sizes.plate) // 2, min(_BEND, abs(x - from_x))
            turn = x - bend if x > from_x else x + bend
            across = f"V{middle}H{turn}Q{x},{middle} {x},{middle + bend}" if bend else ""
            edges.append(f'<path d="M{from_x},{from_y}{across}V{end}"/>')
        plates.append(_plate(node, sizes, options, look, f"translate({x},{top})"))
        if node.size > 1:
            continue
        texts = [
            f'<text x="{x}" y="{text_top + number * line_height + sizes.word}">{escape(line)}</text>'
            for number, line in enumerate(node.lines)
        ]
        if node.folded and node.lines:
            half = max(advance(line, sizes.word) for line in node.lines) // 2
            shape = f"M{x},{bottom + sizes.plate}L{x - half},{text_top}H{x + half}Z"
            texts.insert(0, f'<path d="{shape}" fill="none" stroke="{LINE}" stroke-width="1.25"/>')
        words.append("".join(texts))
    places = {node.index: x for node, x in zip(nodes, xs, strict=True) if node.index >= 0}
    curves, below = [], text_top + max(len(node.lines) for node in nodes) * line_height + 4
    shown = [(places[a], places[b]) for a, b in arrows if a in places and b in places]
    for start, end in shown:
        low = below + _DEPTH + abs(start - end) // 8
        curves.append(f'<path d="M{start},{below}C{start},{low} {end},{low} {end},{below + 4}"/>')
        curves.append(f'<path d="M{end},{below}l-4,8h8Z" fill="{LINE}"/>')
    height = below + max((_DEPTH + abs(start - end) // 8 for start, end in shown), default=0)
    # Right-to-left lines must be marked; this does not change their position, since they are centered.
    direction = ' direction="rtl"' if mirrored else ""
    drawn = ["\n".join(pieces) for pieces in (edges, plates, words)]
    drawn_arrows = f'\n<g class="arrows" fill="none" stroke="{LINE}">{"".join(curves)}</g>' if curves else ""
    body = (
        f'<g class="edges" fill="none" stroke="{LINE}" stroke-width="1.25">\n{drawn[0]}\n</g>\n'
        f'<g class="labels" font-size="{sizes.label}">\n{drawn[1]}\n</g>\n'
        f'<g class="words" font-size="{sizes.word}" fill="currentColor"{direction}>\n{drawn[2]}\n</g>{drawn_arrows}'
    )
    return Block(layout.width, height, body)


def _plate(node: SketchNode, sizes: Metrics, options: Options, look: Look, place: str) -> str:
    """Draw the label of a node at a place: on a plate, perhaps with the number of a part, unless it is a tag."""
    baseline = (sizes.plate + sizes.label * 7 // 10) // 2
    if node.size == 1 and not node.folded:
        text = f'<text y="{baseline}" fill="currentColor">{escape(node.label)}</text>' if options.tags else ""
        return f'<g class="tag" transform="{place}">{text}</g>'
    width, number = sizes.plate_width(node), sizes.number_width(node)
    fill, border = escape(look.fill(node.index, node.label)), look.border(node.index)
    plate = (
        f'<rect x="{-width // 2}" width="{width}" height="{sizes.plate}" rx="5" fill="{fill}"{border}/>'
        f'<text x="{-number // 2}" y="{baseline}" fill="{INK}">{escape(node.sign + node.label)}</text>'
    )
    if number:
        x, room, height = width // 2 - number - 1, number - 2, sizes.plate - 6
        plate += (
            f'<rect x="{x}" y="3" width="{room}" height="{height}" rx="{height // 2}" fill="#57606a"/>'
            f'<text x="{x + room // 2}" y="{baseline - 1}" font-size="{_NUMBER}" fill="#fff">{node.part}</text>'
        )
    return f'<g class="phrase" transform="{place}">{plate}</g>'


_WORD, _LABEL = 16, 11  # font sizes in pixels
_SPACE, _BAR, _STEP = 8, 15, 18  # between words; height of a bar; distance between bars
_TALLEST = 60  # phrases with more levels below are left out, so that even a deep tree can be drawn
_SHORT = 6  # words: a longer phrase is wider than its label


class _Bar(NamedTuple):
    node: int
    label: str  # with its sign
    look: str  # attributes
    start: int  # words
    end: int
    height: int  # levels of phrases from this one down


def spans_block(tree: Tree, options: Options, look: Look, limit: int | None) -> Block:
    """Return the words of a tree with its phrases as bars below them, the smallest nearest, in lines.

    A line has at most `limit` pixels (None: one line).
    """
    words, bars, mirrored = list(map(visible, tree.words)), _bars(tree, options, look), options.is_mirrored(tree)
    cells = [advance(word, _WORD) + _SPACE for word in words]
    for bar in sorted(bars, key=lambda bar: bar.end - bar.start):  # so that the labels of short phrases fit
        if bar.end - bar.start <= _SHORT:
            cells[bar.end - 1] += max(_label_width(bar) + _SPACE - sum(cells[bar.start : bar.end]), 0)
    limit = limit or sum(cells)
    starts, room = [0], limit
    for number, cell in enumerate(cells):
        if cell - _SPACE > room and number > starts[-1]:
            starts.append(number)
            room = limit
        room -= cell
    ends = [*starts[1:], len(cells)]
    xs = [list(accumulate(cells[start:end], initial=0)) for start, end in zip(starts, ends, strict=True)]
    width = max(line[-1] for line in xs) - _SPACE
    bars_of: list[list[_Bar]] = [[] for _ in starts]
    for bar in bars:
        for number in range(bisect_right(starts, bar.start) - 1, bisect_right(starts, bar.end - 1)):
            bars_of[number].append(bar)
    lines = zip(starts, ends, xs, bars_of, strict=True)
    return stack([_line(start, words[start:end], places, row, width, mirrored) for start, end, places, row in lines])


def _label_width(bar: _Bar) -> int:
    return advance(bar.label, _LABEL) + 6


def _bars(tree: Tree, options: Options, look: Look) -> list[_Bar]:
    """Return the phrases to show; phrases of the same height never overlap."""
    arrays, offset = tree.arrays, tree.start
    heights = [0] * (tree.index + tree.size)
    bars = []
    for i in range(tree.index + tree.size - 1, tree.index - 1, -1):
        if arrays.sizes[i] == 1:
            continue
        heights[i] = max(heights[child] for child in children_by_size(arrays.sizes, i))
        if options.shows(arrays.labels[i]):
            heights[i] += 1
            if heights[i] <= _TALLEST:
                label, start, end = visible(arrays.labels[i]), arrays.starts[i] - offset, arrays.ends[i] - offset
                attributes = f'fill="{escape(look.fill(i, label))}"{look.border(i)}'
                bars.append(_Bar(i, look.sign(i) + label, attributes, start, end, heights[i]))
    return bars[::-1]


def _line(
    first: int, words: Sequence[str], xs: Sequence[int], bars: Sequence[_Bar], width: int, mirrored: bool
) -> Block:
    """Draw a line of words, from `first` on, with the parts of bars below them; xs: of each word, and of the end.

    A bar is as high as the others over its words allow, rounded where the phrase begins or ends, and has its label if
    that fits.
    """
    texts = []
    for word, x, behind in zip(words, xs, xs[1:], strict=False):
        middle = (x + behind - _SPACE) // 2
        texts.append(f'<text x="{width - middle if mirrored else middle}" y="{_WORD}">{escape(word)}</text>')
    free, plates = [0] * len(words), {}  # per word: the first slot below all bars so far
    for number in sorted(range(len(bars)), key=lambda number: bars[number].height):
        bar, last = bars[number], first + len(words)
        start, end = max(bar.start - first, 0), min(bar.end, last) - first
        slot = max(free[start:end])
        free[start:end] = [slot + 1] * (end - start)
        left, right = xs[start] - (bar.start < first) * _SPACE // 2, xs[end] - _SPACE + (bar.end > last) * _SPACE // 2
        x, y, room = width - right if mirrored else left, _WORD + 9 + _STEP * slot, right - left
        text, at = "", (x + room - 3, "end") if mirrored else (x + 3, "start")
        if room >= _label_width(bar) - 2:
            text = f'<text x="{at[0]}" y="{y + 11}" text-anchor="{at[1]}">{escape(bar.label)}</text>'
        plate = f'<rect x="{x}" y="{y}" width="{room}" height="{_BAR}" rx="3" {bar.look}/>'
        plates[number] = f'<g class="phrase" data-node="{bar.node}">{plate}{text}</g>'
    drawn = "".join(plates[number] for number in range(len(bars)))
    body = (
        f'<g class="words" font-size="{_WORD}" fill="currentColor">\n{"".join(texts)}\n</g>\n'
        f'<g class="bars" font-size="{_LABEL}" font-weight="600" fill="{INK}">\n{drawn}\n</g>'
    )
    return Block(width, _WORD + 9 + _STEP * max(free), body)
