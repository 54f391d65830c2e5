"""Plots of one value per word of a sentence, such as surprisal, as bars or lines over the words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.settings import check_choice
from spacy_incparse.viz.blocks import Block, advance, captioned, escape, is_right_to_left, stack, visible
from spacy_incparse.viz.options import LINE, read_options
from spacy_incparse.viz.svg import document

Values = Sequence[float | None]
_Place = tuple[float | None, str, int]  # a value, its word, and the middle of the word

PLOT_STYLES = ("bars", "line")
_COLORS = ("#4c8dd6", "#e0873e", "#3fa66b", "#b06fd0", "#d1587a", "#8a8f3c")  # visible on light and dark backgrounds
_HEIGHT, _TOP, _AXIS = 150, 18, 46  # pixels: the plot, the space above it and to its left
_FONT, _SMALL, _LEGEND = 15, 11, 13  # font sizes
_CELL, _SPACE = 30, 10  # minimum width per word; space between words
_N_TICKS = 5
_SMALLEST = 1e-9  # values with a smaller absolute or relative difference are drawn as equal


def plot(
    words: Sequence[str],
    values: Values | Mapping[str, Values],
    *,
    style: str = "bars",
    title: str = "",
    unit: str = "",
    from_zero: bool = True,
    **options: Any,
) -> str:
    """Return an SVG document with a bar or a point over each word.

    `values` has one value per word, in `unit`, or several such series by name. None and NaN are missing values:
    a question mark instead of a bar, or a gap in a line. All rows of a long sentence have the same scale, including 0;
    with `from_zero=False`, for lines only, it begins near the lowest value. `options` are those of
    `viz.options.Options`; words beyond `width` continue in the next row. Raises ConfigError for an unknown option or
    style, IncparseError for a series that does not have one finite value, or None, for each word.
    """
    check_choice("the style of plots", style, PLOT_STYLES)
    if style == "bars" and not from_zero:
        raise ConfigError("bars begin at 0, since their length is the value: from_zero=False is for lines")
    if not words:
        raise IncparseError("no words to plot")
    series = values if isinstance(values, Mapping) else {"": values}
    figures = {name: _checked(name, column, words) for name, column in series.items()}
    settings = read_options(options)
    shown = list(map(visible, words))
    mirrored = is_right_to_left(shown) if settings.direction is None else settings.direction == "rtl"
    painter = _Painter(_Scale.over(figures, from_zero), style == "bars", unit, mirrored)
    cells = [max(advance(word, _FONT) + _SPACE, _CELL, 8 * len(figures) + _SPACE) for word in shown]
    bounds, room, limit = [0], 0, (settings.width or sum(cells) + _AXIS) - _AXIS
    for number, cell in enumerate(cells):
        if number > bounds[-1] and room + cell > limit:
            bounds.append(number)
            room = 0
        room += cell
    rows = [slice(start, end) for start, end in zip(bounds, [*bounds[1:], len(words)], strict=True)]
    lines = [painter.line(shown[row], cells[row], [column[row] for column in figures.values()]) for row in rows]
    sheet = captioned(stack([*_legend(figures), *lines]), title, mirrored=mirrored, size=18)
    return document(sheet, settings, f"{title or 'plot'}: {' '.join(words)}")


def _legend(names: Iterable[str]) -> list[Block]:
    """Return a line with the names of the series, if they have names."""
    x, pieces = _AXIS, []
    for number, name in enumerate(names):
        if name:
            place = f'x="{x + 18}" y="12" font-size="{_LEGEND}" text-anchor="start"'
            pieces.append(f'<rect x="{x}" y="1" width="12" height="12" rx="2" fill="{_color(number)}"/>')
            pieces.append(f'<text {place} fill="currentColor">{escape(name)}</text>')
            x += advance(name, _LEGEND) + 40
    return [Block(x, 14, "\n".join(pieces))] if pieces else []


@dataclass(frozen=True)
class _Scale:
    """A mapping from values to pixels below the top of a plot; both ends are ticks."""

    low: float
    high: float
    step: float

    @classmethod
    def over(cls, figures: Mapping[str, Values], from_zero: bool) -> _Scale:
        """Return a scale that includes all values, and 0 if `from_zero` is set or there are no values."""
        known = [value for column in figures.values() for value in column if value is not None]
        known = known if known and not from_zero else [0.0, *known]
        extent, largest = max(known) - min(known), max(map(abs, known))
        extent = extent if extent > _SMALLEST * max(1.0, largest) else max(1.0, largest / 1000)
        power = 10.0 ** math.floor(math.log10(extent / _N_TICKS))
        step = next(power * factor for factor in (1, 2, 5, 10) if power * factor * _N_TICKS >= extent)
        low, high = math.floor(min(known) / step) * step, math.ceil(max(known) / step) * step
        return cls(low, max(high, low + step), step)

    def y(self, value: float) -> int:
        return round((self.high - value) / (self.high - self.low) * _HEIGHT)

    def ticks(self) -> list[float]:
        n_steps = round((self.high - self.low) / self.step)
        return [self.low + number * self.step for number in range(n_steps + 1)]


@dataclass(frozen=True)
class _Painter:
    scale: _Scale
    has_bars: bool
    unit: str
    mirrored: bool

    def line(self, words: Sequence[str], cells: Sequence[int], columns: Sequence[Values]) -> Block:
        """Draw the axis, bars or points, and the words below them, each in the middle of its cell."""
        total, left, middles = sum(cells), 0, []
        for cell in cells:
            middle = left + cell // 2
            middles.append(_AXIS + (total - middle if self.mirrored else middle))
            left += cell
        pieces = [self._axis(_AXIS + total)]
        for number, column in enumerate(columns):
            places = list(zip(column, words, middles, strict=True))
            marks = self._bars(number, len(columns), places) if self.has_bars else self._curve(number, places)
            pieces.append(f'<g class="series" fill="{_color(number)}" stroke="none">\n{"".join(marks)}\n</g>')
        below, y = zip(middles, words, strict=True), _HEIGHT + _FONT + 8
        texts = "".join(f'<text x="{x}" y="{y}">{escape(word)}</text>' for x, word in below)
        pieces.append(f'<g class="words" font-size="{_FONT}" fill="currentColor">\n{texts}\n</g>')
        body, height = "\n".join(pieces), _TOP + _HEIGHT + _FONT + 14
        return Block(_AXIS + total, height, f'<g transform="translate(0,{_TOP})">\n{body}\n</g>')

    def _axis(self, width: int) -> str:
        x = _AXIS - 8
        pieces = [f'<text x="{x}" y="-8" text-anchor="end">{escape(self.unit)}</text>'] if self.unit else []
        for tick in self.scale.ticks():
            is_zero = abs(tick) < self.scale.step / 2
            y, opacity = self.scale.y(tick), 1 if is_zero else 0.3
            pieces.append(f'<path d="M{_AXIS},{y}H{width}" stroke="{LINE}" stroke-opacity="{opacity}"/>')
            pieces.append(f'<text x="{x}" y="{y + 4}" text-anchor="end">{0 if is_zero else tick:.6g}</text>')
        return f'<g class="axis" font-size="{_SMALL}" fill="currentColor">\n{"".join(pieces)}\n</g>'

    def _bars(self, number: int, n_series: int, places: Sequence[_Place]) -> Iterator[str]:
        zero, width = self.scale.y(0.0), min((_CELL - 6) // n_series if n_series < 3 else 7, 22)
        for value, word, middle in places:
            x = middle - n_series * width // 2 + number * width
            if value is None:
                yield _missing(x + width // 2, zero, word)
            else:
                top, bottom = sorted((self.scale.y(value), zero))
                place = f'x="{x}" y="{top}" width="{width}" height="{max(bottom - top, 1)}"'
                yield f"<rect {place}>{self._tip(word, value)}</rect>"

    def _curve(self, number: int, places: Sequence[_Place]) -> list[str]:
        points, path, was_known = [], "", False
        for value, word, x in places:
            if value is None:
                points.append(_missing(x, self.scale.y(max(self.scale.low, min(0.0, self.scale.high))), word))
            else:
                y = self.scale.y(value)
                path += f"{'L' if was_known else 'M'}{x},{y}"
                points.append(f'<circle cx="{x}" cy="{y}" r="3.5">{self._tip(word, value)}</circle>')
            was_known = value is not None
        return [f'<path d="{path}" fill="none" stroke="{_color(number)}" stroke-width="2"/>', *points]

    def _tip(self, word: str, value: float) -> str:
        return f"<title>{escape(f'{word}: {value:.4g} {self.unit}'.rstrip())}</title>"


def _missing(x: int, y: int, word: str) -> str:
    return f'<text x="{x}" y="{y - 4}" font-size="12">?<title>{escape(word)}: missing</title></text>'


def _color(number: int) -> str:
    return _COLORS[number % len(_COLORS)]


def _checked(name: str, column: Values, words: Sequence[str]) -> Values:
    """Return the values, with None for missing ones."""
    what = f"the series {name!r}" if name else "the series"
    if len(column) != len(words):
        raise IncparseError(f"{what} has {len(column)} values for {len(words)} words")
    checked: list[float | None] = []
    for word, value in zip(words, column, strict=True):
        if value is not None and math.isinf(value):
            raise IncparseError(f"{what} has the value {value} at {word!r}: give None for a missing value")
        checked.append(None if value is None or math.isnan(value) else float(value))
    return checked
