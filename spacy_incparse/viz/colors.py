"""Colors of labels: a label has the same color in every picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from zlib import crc32

from spacy_incparse.trees.labels import bare_label

INK = "#1b1f24"  # of letters on a colored plate
LINE = "#8b949e"  # of edges: visible on light and dark backgrounds


class Mark(NamedTuple):
    """The look of a highlighted node; a sign and a border distinguish it even without colors."""

    sign: str
    fill: str  # "": the label's color
    border: str
    dashed: bool = False


PLAIN = "#e3e7ec"  # nodes without a mark, if only marked nodes have colors
MISSING = Mark("− ", "#ffc2bd", "#b3261e", dashed=True)
EXTRA = Mark("+ ", "#b9d4ff", "#1a5fb4")
WRONG_LABEL = Mark("~ ", "#ffe08a", "#946200")
DIFFERENT = Mark("", "", "#d1242f")

# Light enough for dark text, on any background.
_BY_CATEGORY = {
    "TOP": "#dfe3e8", "ROOT": "#dfe3e8", "": "#dfe3e8",
    "S": "#d6ccfa", "SBAR": "#c9d3ff", "SBARQ": "#c9d3ff", "SINV": "#d6ccfa", "SQ": "#d6ccfa",
    "NP": "#a8d8ff", "NX": "#a8d8ff", "NML": "#c3e4ff", "WHNP": "#8fd3e8", "QP": "#b4e6e6",
    "VP": "#b2e8b4", "PP": "#ffd59e", "WHPP": "#ffc48a", "PRT": "#d9e8a0",
    "ADJP": "#f7c6dd", "WHADJP": "#f2b3d6", "ADVP": "#f6e28b", "WHADVP": "#efd46b",
    "PRN": "#e3d5c3", "FRAG": "#ffc9c2", "X": "#ffc9c2", "CONJP": "#cfe6d8", "UCP": "#d8dcc0", "INTJ": "#ffd0e8",
}  # fmt: skip
_OTHERS = ("#bfe3d0", "#e2cdf2", "#f3d2bb", "#c9dcf0", "#e9e2a8", "#cfe8b8", "#f0c9cf", "#c4e4ea", "#ddd3c8", "#d0d0f4")


@dataclass(frozen=True)
class Look:
    """The colors of nodes: by label, except for nodes with a mark (by number); with `plain` the others are gray."""

    colors: Mapping[str, str] = field(default_factory=dict)
    marks: Mapping[int, Mark] = field(default_factory=dict)
    plain: bool = False

    def sign(self, index: int) -> str:
        """Return the sign before the label of a node."""
        mark = self.marks.get(index)
        return mark.sign if mark else ""

    def fill(self, index: int, label: str) -> str:
        """Return the color of a node's plate."""
        mark = self.marks.get(index)
        if mark and mark.fill:
            return mark.fill
        return PLAIN if self.plain and not mark else label_color(label, self.colors)

    def border(self, index: int) -> str:
        """Return the SVG attributes of a plate's border after a space, or "" for a node without a mark."""
        mark = self.marks.get(index)
        if not mark:
            return ""
        dashes = ' stroke-dasharray="4 2"' if mark.dashed else ""
        return f' stroke="{mark.border}" stroke-width="1.75"{dashes}'

    def css_border(self, index: int) -> str:
        """Return the same as an HTML style after a semicolon."""
        mark = self.marks.get(index)
        return f";outline:2px {'dashed' if mark.dashed else 'solid'} {mark.border}" if mark else ""


def label_color(label: str, colors: Mapping[str, str] | None = None) -> str:
    """Return the color of a label; `colors` takes precedence, by the whole label, then without its function.

    Labels without an assigned color get one by their letters, independent of the other labels.
    """
    category = bare_label(label)
    for name in (label, category):
        if colors and name in colors:
            return colors[name]
    return _BY_CATEGORY.get(category) or _OTHERS[crc32(category.encode("utf8", "surrogatepass")) % len(_OTHERS)]
