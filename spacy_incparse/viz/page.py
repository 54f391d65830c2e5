"""A page of trees: one self-contained HTML file in which trees can be folded, searched, and show their words."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files

from spacy_incparse.viz.bracket_text import brackets
from spacy_incparse.viz.markup import escape
from spacy_incparse.viz.options import Options
from spacy_incparse.viz.painter import Metrics
from spacy_incparse.viz.picture import Entry, Picture, entry_block, minified
from spacy_incparse.viz.svg import document
from spacy_incparse.viz.text_width import visible

_UNFOLDED = {"collapse": (), "collapse_depth": None, "collapse_length": None, "width": None}


def page(pictures: Sequence[Picture], style: str = "tree", *, title: str = "Trees", minify: bool = False) -> str:
    """Return a whole, self-contained page.

    Trees are drawn in one part each; trees that are too wide for the window are folded to fit when the page opens. The
    page runs only its own script, and loads nothing.
    """
    return "".join(page_pieces(pictures, style, title=title, minify=minify))


def page_pieces(
    pictures: Iterable[Picture], style: str, *, title: str = "Trees", minify: bool = False
) -> Iterator[str]:
    """Yield the page in pieces, one for each picture as soon as it is drawn."""
    program, rules = _resource("page.js", minify), _resource("page.css", minify)
    digest = b64encode(sha256(program.encode("utf8")).digest()).decode("ascii")
    yield (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        f"script-src 'sha256-{digest}'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{rules}</style>\n</head>\n<body>\n{_HEADER}<main>\n"
    )
    for picture in pictures:
        section = _section(picture, style)
        yield minified(section) if minify else section
    yield f"</main>\n<script>{program}</script>\n</body>\n</html>\n"


_HEADER = """\
<header role="search">
<input type="search" placeholder="words, or a label such as NP" aria-label="search" autocomplete="off">
<output aria-live="polite"></output>
<label><input type="checkbox"> only trees with hits</label>
<span><button data-action="fit">Fit</button> <button data-action="foldAll">Fold</button> \
<button data-action="unfold">Unfold</button></span>
</header>
"""


def _section(picture: Picture, style: str) -> str:
    title = f"<h2>{escape(picture.title)}</h2>\n" if picture.title else ""
    rows = ["".join(_figure(entry, style, picture.options) for entry in row) for row in picture.rows]
    content = "".join(f'<div class="row">\n{row}</div>\n' for row in rows)
    language = f' lang="{escape(picture.options.lang)}"' if picture.options.lang else ""
    return f"<section{language}>\n{title}{content}</section>\n"


def _figure(entry: Entry, style: str, options: Options) -> str:
    tree, direction = entry.tree, "rtl" if options.is_mirrored(entry.tree) else "ltr"
    nodes = slice(tree.index, tree.index + tree.size)
    data = {
        "sizes": " ".join(map(str, tree.arrays.sizes[nodes])),
        "labels": json.dumps(list(map(visible, tree.arrays.labels[nodes])), separators=(",", ":")),
        "first": str(tree.index),
        "dir": direction,
        "metrics": str(Metrics.of(options)),
        "tags": str(int(options.tags)),
        "folded": " ".join(str(node - tree.index) for node in sorted(options.folded(tree))),
    }
    attributes = "".join(f' data-{name}="{escape(value)}"' for name, value in data.items())
    caption = f"<figcaption>{escape(entry.caption)}</figcaption>\n" if entry.caption else ""
    content = _content(entry, style, options, direction)
    return f'<figure class="{style}" dir="{direction}"{attributes}>\n{caption}{content}</figure>\n'


def _content(entry: Entry, style: str, options: Options, direction: str) -> str:
    path = '<p class="path"></p>\n'
    if style == "brackets":
        return f"{brackets(entry.tree, options, entry.look(options))}\n{path}"
    words = " ".join(f"<span>{escape(word)}</span>" for word in entry.tree.words)
    text = f'<p class="text" dir="{direction}">{words}</p>\n' if style == "tree" else ""
    block = entry_block(entry, style, options.replaced(**_UNFOLDED), None if style == "tree" else options.width)
    picture = document(block, options, " ".join(entry.tree.words))
    return f'{text}<div class="scroll">{picture}</div>\n{path}'


@cache
def _resource(name: str, minify: bool = False) -> str:
    text = files("spacy_incparse.viz").joinpath(name).read_text(encoding="utf8")
    if not minify:
        return text
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith(("//", "/*")))
