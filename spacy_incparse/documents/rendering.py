"""`render` and `serve`: draw the trees of Docs and Spans, with an interface like that of spaCy's displaCy.

spacy_incparse.render(doc, style="tree")                      # in a notebook: shows it; elsewhere: returns SVG
spacy_incparse.render(doc, options={"nbest": 3})              # the best trees of each sentence, side by side
spacy_incparse.render(doc, options={"gold": gold_trees})      # differences from gold trees
spacy_incparse.serve(doc)
"""

from __future__ import annotations

import errno
import socket
import warnings
from collections.abc import Callable, Iterable, Mapping
from html import escape
from typing import Any

from spacy.util import find_available_port, is_in_jupyter

from spacy_incparse.documents.drawables import Drawable, pictures_of
from spacy_incparse.errors import IncparseError
from spacy_incparse.viz.page import page as whole_page
from spacy_incparse.viz.picture import check_style, markup, minified

_FRAME_HEIGHT = 640  # pixels, for a page in a notebook
_LAST_PORT = 65535

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

    docs: a Doc, a Span, a Tree, or several of them. For a Doc, all trees are drawn; for a Span, its node, or the trees
        of its sentences if it is not a constituent.
    style: "tree", "brackets" (colored brackets in running text) or "spans" (bars under the text).
    page: return a whole HTML page, in which users can fold and search trees and show their words.
    minify: remove whitespace that only makes the markup readable.
    jupyter: show the markup in a notebook; None: detect whether this is one.
    options: the options of `spacy_incparse.viz.options.Options`, and two more. "nbest": draw this many trees per
        sentence side by side. "gold": a Tree, or one per sentence, to compare the drawn trees with.
    manual: `docs` are dicts: {"tree": brackets or Tree} or {"trees": [...]}, with "title" and "settings" ("lang",
        "direction") as in displaCy; or dicts from `Tree.to_dict`.

    Without `page`, a Doc becomes one SVG document ("brackets": one HTML element). Raises ConfigError for an unknown
    style or option, and IncparseError for objects that cannot be drawn.
    """
    check_style(style)
    pictures = pictures_of(docs, options or {}, manual=manual)
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
    """Serve trees to browsers at http://host:port until interrupted; the other arguments are as in `render`.

    Like displaCy, the server listens on all network interfaces by default. If the port is in use, `auto_select_port`
    selects the next free port; otherwise IncparseError is raised, as for a host or port that cannot be served.
    """
    from wsgiref.simple_server import make_server

    if is_in_jupyter():
        warnings.warn("in a notebook, use spacy_incparse.render, which shows trees without a server", stacklevel=2)
    html = render(docs, style, page=page, minify=minify, jupyter=False, options=options, manual=manual)
    _check_place(host, port)
    try:
        port = find_available_port(port, host, auto_select_port)
    except ValueError:
        raise IncparseError(
            f"port {port} of {host} is in use: choose another port, or pass auto_select_port=True"
        ) from None
    with make_server(host, port, _application(html or "")) as server:
        print(f"\nUsing the '{style}' visualizer\nServing on http://{host}:{port} ...\n")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print(f"Shutting down server on port {port}.")


def _check_place(host: str, port: int) -> None:
    """Raise IncparseError if a host and a port cannot be served, for another reason than that the port is in use."""
    if not isinstance(port, int) or not 0 <= port <= _LAST_PORT:
        raise IncparseError(f"port {port!r}: pass a number from 0 to {_LAST_PORT}")
    with socket.socket() as probe:
        try:
            probe.bind((host, port))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise IncparseError(f"port {port} of {host!r} cannot be served: {error.strerror}") from None


def set_render_wrapper(function: Callable[[str], str] | None) -> None:
    """Set a function that transforms the markup of `render`, for other platforms; None removes it."""
    global _render_wrapper
    if function is not None and not callable(function):
        raise IncparseError(f"the render wrapper has to be a function, not {function!r}")
    _render_wrapper = function


def _application(html: str) -> Callable[..., list[bytes]]:
    content = html.encode("utf8")

    def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        start_response("200 OK", [("Content-Type", "text/html; charset=utf-8"), ("Content-Length", str(len(content)))])
        return [content]

    return application


def _show(html: str, page: bool) -> None:
    """Show markup in a notebook; a page goes into a frame, to isolate its styles and scripts."""
    from IPython.display import HTML, display

    if page:
        style = f"width:100%;height:{_FRAME_HEIGHT}px;border:0"
        html = f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{escape(html)}"></iframe>'
    # Without this class, notebooks interpret dollar signs as math.
    display(HTML(f'<div class="tex2jax_ignore" style="overflow-x:auto">{html}</div>'))
