"""The options of pictures in all styles, read from a user's dict."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from numbers import Integral
from typing import Any, NamedTuple
from zlib import crc32

from spacy_incparse.errors import ConfigError
from spacy_incparse.trees.labels import bare_label
from spacy_incparse.trees.tree import Tree
from spacy_incparse.viz.blocks import is_right_to_left, is_style_value
from spacy_incparse.viz.sketch import folded_phrases

FONT = "system-ui, 'Segoe UI', Helvetica, Arial, 'Noto Sans', sans-serif"


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of `svg`, `page` and `render`; docs/pictures.md shows them.

    Raises ConfigError for a value that an option cannot have.
    """

    width: int | None = 1000  # pixels; a wider tree is cut into numbered parts, a longer line is wrapped
    collapse: Collection[str] = ()  # labels of phrases to show as triangles
    collapse_depth: int | None = None  # phrases this many levels below the root become triangles
    collapse_length: int | None = None  # phrases of two to this many words become triangles
    labels: Collection[str] | None = None  # in the styles "brackets" and "spans": only phrases with these labels
    tags: bool = True  # whether parts of speech are shown
    colors: Mapping[str, str] = field(default_factory=dict)  # of labels
    color: str = "currentColor"  # of the words
    bg: str = "transparent"
    font: str = FONT
    traces: bool = False  # in the style "tree": functions, and traces with arrows to what they stand for
    compact: bool = False  # less space between words and between levels
    direction: str | None = None  # "ltr" or "rtl"; None: the direction of most letters
    lang: str | None = ""

    def __post_init__(self) -> None:
        for name, least in (("width", 100), ("collapse_depth", 1), ("collapse_length", 2)):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, Integral) or value < least):
                raise ConfigError(f'the option "{name}" is {value!r}; it must be a whole number from {least}, or None')
        if self.direction not in (None, "ltr", "rtl"):
            raise ConfigError(f'the option "direction" is {self.direction!r}; it must be "ltr", "rtl" or None')
        for name in ("tags", "traces", "compact"):
            if isinstance(getattr(self, name), str):
                raise ConfigError(f'the option "{name}" is {getattr(self, name)!r}; it must be True or False')
        if not isinstance(self.lang, str | None):
            raise ConfigError(f'the option "lang" is {self.lang!r}; it must be the code of a language, or None')
        styles = {"color": self.color, "bg": self.bg, "font": self.font, **checked_colors(self.colors)}
        for name, value in styles.items():
            if not isinstance(value, str) or not is_style_value(value):
                raise ConfigError(f"{value!r}, given for {name!r}, is not a valid value in a style")
        for name, default in (("collapse", ()), ("labels", None)):
            value = getattr(self, name)
            if isinstance(value, str):
                raise ConfigError(f'the option "{name}" must be a list of labels, such as [{value!r}], not {value!r}')
            object.__setattr__(self, name, default if value is None else tuple(value))

    def is_mirrored(self, tree: Tree) -> bool:
        """Return whether the tree is drawn from right to left."""
        return is_right_to_left(tree.words) if self.direction is None else self.direction == "rtl"

    def folded(self, tree: Tree) -> frozenset[int]:
        """Return the numbers of the phrases of the tree that become triangles."""
        return folded_phrases(tree, labels=self.collapse, depth=self.collapse_depth, length=self.collapse_length)

    def shows(self, label: str) -> bool:
        """Return whether phrases with this label are shown, in the styles that can leave some out."""
        return self.labels is None or label in self.labels or bare_label(label) in self.labels


def checked_colors(colors: Any) -> Mapping[str, str]:
    """Return colors of labels. Raises ConfigError if they are no dict."""
    if not isinstance(colors, Mapping):
        raise ConfigError(f'the option "colors" is {colors!r}; it must be a dict, such as {{"NP": "gold"}}')
    return colors


def read_options(given: Mapping[str, Any], others: Sequence[str] = ()) -> Options:
    """Return the options in a user's dict. Raises ConfigError for an unknown name.

    others: options of the caller, which messages also name.
    """
    own = [option.name for option in fields(Options)]
    names = [*own, *others]
    for name in given:
        if name not in own:
            close = get_close_matches(name, names, 1)
            advice = f"did you mean {close[0]!r}?" if close else f"choose from {', '.join(names)}"
            raise ConfigError(f"unknown option {name!r} for pictures: {advice}")
    return Options(**given)


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
        return self.marks[index].sign if index in self.marks else ""

    def fill(self, index: int, label: str) -> str:
        """Return the color of a node's plate: its mark's, or else that of its label, also without its function.

        Labels without an assigned color get one by their letters, independent of the other labels.
        """
        mark, category = self.marks.get(index), bare_label(label)
        if mark and mark.fill:
            return mark.fill
        if self.plain and not mark:
            return PLAIN
        for name in (label, category):
            if name in self.colors:
                return self.colors[name]
        return _BY_CATEGORY.get(category) or _OTHERS[crc32(category.encode("utf8", "surrogatepass")) % len(_OTHERS)]

    def border(self, index: int, *, css: bool = False) -> str:
        """Return the SVG attributes of a plate's border after a space, or its `css` after a semicolon.

        A node without a mark has none: "".
        """
        mark = self.marks.get(index)
        if not mark:
            return ""
        if css:
            return f";outline:2px {'dashed' if mark.dashed else 'solid'} {mark.border}"
        dashes = ' stroke-dasharray="4 2"' if mark.dashed else ""
        return f' stroke="{mark.border}" stroke-width="1.75"{dashes}'
