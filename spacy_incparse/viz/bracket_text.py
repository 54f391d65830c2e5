"""Trees as text with colored brackets: HTML that wraps like text."""

from __future__ import annotations

from collections.abc import Iterator

from spacy_incparse.trees.tree import Tree
from spacy_incparse.viz.colors import INK, Look
from spacy_incparse.viz.markup import escape
from spacy_incparse.viz.options import Options

_PLATE = f"color:{INK};border-radius:4px;padding:.05em .3em;font-size:.72em;font-weight:600;vertical-align:.1em"
_TAG = "font-size:.66em;opacity:.75;vertical-align:-.35em;margin-inline-start:.1em"


def brackets(tree: Tree, options: Options, look: Look | None = None) -> str:
    """Return the words of a tree between the colored brackets of its phrases, as one HTML element.

    Brackets are sibling elements, however deep the tree, since browsers limit nesting. Both brackets of a phrase have
    its node in `data-node`.
    """
    direction = "rtl" if options.is_mirrored(tree) else "ltr"
    language = f' lang="{escape(options.lang)}"' if options.lang else ""
    style = (
        f"line-height:2;font-size:{15 if options.compact else 17}px;font-family:{escape(options.font)};"
        f"color:{escape(_ink(options.color))};background:{escape(options.bg)};direction:{direction}"
    )
    pieces = "".join(_pieces(tree, options, look or Look(options.colors)))
    return f'<div class="incparse brackets" dir="{direction}"{language} style="{style}">{pieces}</div>'


def _ink(color: str) -> str:
    return "inherit" if color == "currentColor" else color


def _pieces(tree: Tree, options: Options, look: Look) -> Iterator[str]:
    arrays = tree.arrays
    is_open: list[tuple[int, str]] = []  # (index after the phrase, its closing bracket)
    for i in range(tree.index, tree.index + tree.size):
        yield from _closing(is_open, i)
        label = arrays.labels[i]
        if arrays.sizes[i] == 1:
            tag = f'<span class="tag" style="{_TAG}">{escape(label)}</span>' if options.tags else ""
            yield f' <span class="word"><bdi>{escape(arrays.words[arrays.starts[i]])}</bdi>{tag}</span>'
        elif options.shows(label):
            style = f'style="{_PLATE};background:{escape(look.fill(i, label))}{look.css_border(i)}"'
            is_open.append((i + arrays.sizes[i], f'<span class="close" data-node="{i}" {style}>]</span>'))
            yield f' <span class="open" data-node="{i}" {style}>[{escape(look.sign(i) + label)}</span>'
    yield from _closing(is_open, tree.index + tree.size)


def _closing(is_open: list[tuple[int, str]], i: int) -> Iterator[str]:
    while is_open and is_open[-1][0] <= i:
        yield is_open.pop()[1]
