"""`render` and `serve`: pictures of the trees of Docs and Spans, with the habits of spaCy's displaCy.

spacy_incparse.render(doc, style="tree")                      # in a notebook: shows it; elsewhere: returns SVG
spacy_incparse.render(doc, options={"nbest": 3})              # the best trees of each sentence, side by side
spacy_incparse.render(doc, options={"gold": gold_trees})      # where the trees differ from others
spacy_incparse.serve(doc)
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from html import escape
from typing import Any

from spacy.util import find_available_port, is_in_jupyter

from spacy_incparse.documents.drawables import Drawable, pictures_of
from spacy_incparse.errors import IncparseError
from spacy_incparse.viz.page import page as whole_page
from spacy_incparse.viz.picture import check_style, markup, minified

_FRAME_HEIGHT = 640  # pixels of a page inside of a notebook

_render_wrapper: Callable[[str], str] | None = None


def render(
    docs: Drawable | Iterable[Drawable],
    style: str = "tree",
    page: bool = False,
    minify: bool = False,
    jupyter: bool | None = None,
    options: Mapping[str, Any] = {},
    manual: bool = False,
) -> str | None:
    """Draw trees; return the markup, or show it and return None in a notebook.

    docs: a Doc, a Span, a Tree, or several. Of a Doc all trees are drawn; of a Span its node, or, where it is no
        constituent, the trees of its sentences.
    style: "tree", "brackets" (coloured brackets in running text) or "spans" (bars under the text).
    page: a whole HTML page, in which trees fold, are searched and show their words.
    minify: leave out what only makes the markup legible.
    jupyter: show in a notebook; None: where there is one.
    options: those of `spacy_incparse.viz.options.Options`; and "nbest": so many trees a sentence side by side; "gold":
        a Tree, or as many as there are sentences, to compare the drawn ones with.
    manual: `docs` are dicts: {"tree": brackets or Tree} or {"trees": [...]}, with "title" and "settings" ("lang",
        "direction") as displaCy has them; also what `Tree.to_dict` gives.

    Outside of a page a Doc becomes one SVG document ("brackets": one element of HTML). Raises ConfigError for a style
    or an option that does not exist, IncparseError for what cannot be drawn.
    """
    check_style(style)
    pictures = pictures_of(docs, options, manual=manual)
    if page:
        html = whole_page(pictures, style, minify=minify)
    else:
        html = "\n".join(markup(picture, style) for picture in pictures)
        html = minified(html) if minify else html
    if _render_wrapper is not None:
        html = _render_wrapper(html)
    if jupyter or (jupyter is None and is_in_jupyter()):
        _show(html, page)
        return None
    return html


def serve(
    docs: Drawable | Iterable[Drawable],
    style: str = "tree",
    page: bool = True,
    minify: bool = False,
    options: Mapping[str, Any] = {},
    manual: bool = False,
    port: int = 5000,
    host: str = "0.0.0.0",
    auto_select_port: bool = False,
) -> None:
    """Serve trees to browsers at http://host:port until interrupted; the other arguments are those of `render`.

    As displaCy does, it listens to the whole network unless `host` says otherwise. `auto_select_port` takes the next
    free port where this one is in use; otherwise that raises IncparseError.
    """
    from wsgiref.simple_server import make_server

    if is_in_jupyter():
        warnings.warn("in a notebook, spacy_incparse.render shows trees without a server", stacklevel=2)
    html = render(docs, style, page=page, minify=minify, jupyter=False, options=options, manual=manual)
    try:
        port = find_available_port(port, host, auto_select_port)
    except ValueError:
        raise IncparseError(f"port {port} of {host} is in use: give another, or auto_select_port=True") from None
    with make_server(host, port, _application(html or "")) as server:
        print(f"\nUsing the '{style}' visualizer\nServing on http://{host}:{port} ...\n")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print(f"Shutting down server on port {port}.")


def set_render_wrapper(function: Callable[[str], str] | None) -> None:
    """Let a function change the markup that `render` makes, for other platforms; None takes it away."""
    global _render_wrapper
    if function is not None and not callable(function):
        raise IncparseError(f"a wrapper for markup is a function, not {function!r}")
    _render_wrapper = function


def _application(html: str) -> Callable[..., list[bytes]]:
    content = html.encode("utf8")

    def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        start_response("200 OK", [("Content-Type", "text/html; charset=utf-8"), ("Content-Length", str(len(content)))])
        return [content]

    return application


def _show(html: str, page: bool) -> None:
    """Show markup in a notebook; a page in a frame, which keeps its style and its program to itself."""
    from IPython.display import HTML, display

    if page:
        style = f"width:100%;height:{_FRAME_HEIGHT}px;border:0"
        html = f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{escape(html)}"></iframe>'
    # Without this class notebooks take dollars for mathematics.
    display(HTML(f'<div class="tex2jax_ignore" style="overflow-x:auto">{html}</div>'))
