"""Phrases as colored bars under the text, the smallest nearest to it, in as many lines as the text needs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from spacy_incparse.trees.tree import Tree
from spacy_incparse.viz.blocks import Block, advance, escape, stack, visible
from spacy_incparse.viz.options import INK, Look, Options
from spacy_incparse.viz.sketch import child_indices

_WORD, _LABEL = 16, 11  # font sizes in pixels
_SPACE, _BAR, _STEP = 8, 15, 18  # between words; height of a bar; distance between bars
_TALLEST = 60  # phrases with more levels below are left out, so that even a deep tree can be drawn
_SHORT = 6  # words: a longer phrase is wider than its label


@dataclass(frozen=True)
class _Bar:
    node: int
    label: str
    sign: str
    fill: str
    border: str
    start: int  # words
    end: int
    height: int  # levels of phrases from this one down

    @property
    def label_width(self) -> int:
        return advance(self.sign + self.label, _LABEL) + 6


@dataclass(frozen=True)
class _Line:
    """Words `start` to `end`; `xs` has the position of each word, and of the end of the line."""

    start: int
    end: int
    xs: Sequence[int]


def spans_block(tree: Tree, options: Options, look: Look | None = None, *, limit: int | None = None) -> Block:
    """Return the words of a tree with its phrases below them, in lines of at most `limit` pixels (None: one line)."""
    look = look or Look(options.colors)
    words, bars = list(map(visible, tree.words)), _bars(tree, options, look)
    cells = _cells(words, bars)
    lines = _lines(cells, limit or sum(cells))
    width = max(line.xs[-1] for line in lines) - _SPACE
    mirrored = options.is_mirrored(tree)
    starts = [line.start for line in lines]
    bars_of: list[list[_Bar]] = [[] for _ in lines]
    for bar in bars:
        for number in range(bisect_right(starts, bar.start) - 1, bisect_right(starts, bar.end - 1)):
            bars_of[number].append(bar)
    return stack([_paint(line, words, found, width, mirrored) for line, found in zip(lines, bars_of, strict=True)])


def _bars(tree: Tree, options: Options, look: Look) -> list[_Bar]:
    """Return the phrases to show; phrases of the same height never overlap."""
    arrays, offset = tree.arrays, tree.start
    heights = [0] * (tree.index + tree.size)
    bars = []
    for i in range(tree.index + tree.size - 1, tree.index - 1, -1):
        if arrays.sizes[i] == 1:
            continue
        heights[i] = max(heights[child] for child in child_indices(arrays.sizes, i))
        if options.shows(arrays.labels[i]):
            heights[i] += 1
            if heights[i] <= _TALLEST:
                start, end = arrays.starts[i] - offset, arrays.ends[i] - offset
                label = visible(arrays.labels[i])
                bars.append(_Bar(i, label, look.sign(i), look.fill(i, label), look.border(i), start, end, heights[i]))
    return bars[::-1]


def _cells(words: Sequence[str], bars: Sequence[_Bar]) -> list[int]:
    """Return the width of each word with the space after it, so that the labels of short phrases fit."""
    cells = [advance(word, _WORD) + _SPACE for word in words]
    for bar in sorted(bars, key=lambda bar: bar.end - bar.start):
        if bar.end - bar.start > _SHORT:
            break
        cells[bar.end - 1] += max(bar.label_width + _SPACE - sum(cells[bar.start : bar.end]), 0)
    return cells


def _lines(cells: Sequence[int], limit: int) -> list[_Line]:
    bounds, room = [0], limit
    for number, cell in enumerate(cells):
        if cell - _SPACE > room and number > bounds[-1]:
            bounds.append(number)
            room = limit
        room -= cell
    pairs = zip(bounds, [*bounds[1:], len(cells)], strict=True)
    return [_Line(start, end, list(accumulate(cells[start:end], initial=0))) for start, end in pairs]


def _paint(line: _Line, words: Sequence[str], bars: Sequence[_Bar], width: int, mirrored: bool) -> Block:
    texts = []
    for number in range(line.start, line.end):
        middle = (line.xs[number - line.start] + line.xs[number - line.start + 1] - _SPACE) // 2
        x = width - middle if mirrored else middle
        texts.append(f'<text x="{x}" y="{_WORD}">{escape(words[number])}</text>')
    top, slots = _WORD + 9, _slots(line, bars)
    plates = [_bar(bar, line, top + _STEP * slot, width, mirrored) for bar, slot in zip(bars, slots, strict=True)]
    body = (
        f'<g class="words" font-size="{_WORD}" fill="currentColor">\n{"".join(texts)}\n</g>\n'
        f'<g class="bars" font-size="{_LABEL}" font-weight="600" fill="{INK}">\n{"".join(plates)}\n</g>'
    )
    return Block(width, top + _STEP * (max(slots, default=-1) + 1), body)


def _slots(line: _Line, bars: Sequence[_Bar]) -> list[int]:
    """Return for each bar the number of slots above it in a line: each is as high as the bars over its words allow."""
    free = [0] * (line.end - line.start)  # per word: the first slot below all bars so far
    slots = [0] * len(bars)
    for number in sorted(range(len(bars)), key=lambda number: bars[number].height):
        first, behind = max(bars[number].start, line.start) - line.start, min(bars[number].end, line.end) - line.start
        slots[number] = max(free[first:behind])
        free[first:behind] = [slots[number] + 1] * (behind - first)
    return slots


def _bar(bar: _Bar, line: _Line, y: int, width: int, mirrored: bool) -> str:
    """Draw the part of a bar in a line: rounded where the phrase begins or ends, with its label if it fits."""
    left = line.xs[max(bar.start, line.start) - line.start]
    right = line.xs[min(bar.end, line.end) - line.start] - _SPACE
    goes_on, went_on = bar.end > line.end, bar.start < line.start
    right, left = right + goes_on * _SPACE // 2, left - went_on * _SPACE // 2
    x = width - right if mirrored else left
    plate = (
        f'<rect x="{x}" y="{y}" width="{right - left}" height="{_BAR}" rx="3" fill="{escape(bar.fill)}"{bar.border}/>'
    )
    text = ""
    if right - left >= bar.label_width - 2:
        text_x = (x + right - left - 3) if mirrored else x + 3
        anchor = "end" if mirrored else "start"
        text = f'<text x="{text_x}" y="{y + 11}" text-anchor="{anchor}">{escape(bar.sign + bar.label)}</text>'
    return f'<g class="phrase" data-node="{bar.node}">{plate}{text}</g>'
