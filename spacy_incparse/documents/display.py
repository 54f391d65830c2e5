"""Convert Docs, Spans, trees and dicts to the pictures that `viz` draws."""

from __future__ import annotations

import errno
import socket
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import islice
from typing import Any

from spacy.tokens import Doc, Span
from spacy.util import find_available_port, is_in_jupyter, registry

from spacy_incparse.documents.extensions import doc_trees, span_tree, token_measures
from spacy_incparse.errors import ConfigError, IncparseError, check_type
from spacy_incparse.generative.measures import MEASURES
from spacy_incparse.trees.tree import Tree
from spacy_incparse.viz.options import checked_colors, read_options
from spacy_incparse.viz.page import Entry, Picture, check_style, compared, markup, minified, side_by_side
from spacy_incparse.viz.page import page as whole_page
from spacy_incparse.viz.plot import plot

OWN_OPTIONS = ("nbest", "gold")  # beside those of `Options`
_SETTINGS = ("lang", "direction")

Drawable = Doc | Span | Tree | Mapping[str, Any]


def pictures_of(
    given: Drawable | Iterable[Drawable], options: Mapping[str, Any], *, manual: bool = False
) -> list[Picture]:
    """Return a picture for each Doc, Span, Tree or (with `manual`) dict; `rendering.render` describes them.

    Raises ConfigError for unknown options, and IncparseError for objects that cannot be drawn.
    """
    if not isinstance(options, Mapping):
        raise ConfigError(f"options is {options!r:.60}: it must be a dict of options")
    is_one = isinstance(given, (Doc, Span, Tree, Mapping)) or not isinstance(given, Iterable)
    several: list[Any] = [given] if is_one else list(given)
    given_gold, n_best = options.get("gold"), options.get("nbest")
    if isinstance(given_gold, (Tree, str)):
        given_gold = [given_gold]
    if not isinstance(given_gold, Iterable | None):
        raise ConfigError(f'the option "gold" is {given_gold!r}; it must be a tree, or a list of trees')
    trees = doc_trees(given_gold) if isinstance(given_gold, Doc) else map(_read_tree, given_gold or ())
    gold = None if given_gold is None else iter(trees)
    n_best = 1 if n_best is None else n_best
    if not isinstance(n_best, int) or n_best < 1:
        raise ConfigError(f'the option "nbest" is {n_best!r}; it must be a whole number of 1 or more')
    if gold is not None and n_best > 1:
        raise ConfigError('the options "gold" and "nbest" exclude each other')
    look = {name: value for name, value in options.items() if name not in OWN_OPTIONS}
    colors: dict[str, str] = {}
    for found in registry.displacy_colors.get_all().values():  # of labels, registered by packages for displaCy
        colors |= found() if callable(found) else found
    look["colors"] = colors | dict(checked_colors(look.get("colors", {})))
    pictures = [_picture(one, look, n_best, gold, manual) for one in several]
    if gold is not None and next(gold, None) is not None:
        raise IncparseError('the option "gold" has more trees than there are trees to draw')
    return pictures


def _picture(given: Drawable, look: dict[str, Any], n_best: int, gold: Iterator[Tree] | None, manual: bool) -> Picture:
    title, settings = "", {}
    rows: Sequence[Sequence[Entry]] = []
    if isinstance(given, Mapping) and manual:
        title, settings = str(given.get("title") or ""), dict(given.get("settings") or {})
        for name in settings:
            if name not in _SETTINGS:
                raise ConfigError(f"unknown setting {name!r} of a dict to draw: choose from {', '.join(_SETTINGS)}")
        trees = given.get("trees", [given["tree"]] if "tree" in given else [given])  # or a dict from Tree.to_dict
        rows = [[Entry(_read_tree(tree))] for tree in trees]
    elif isinstance(given, (Doc, Span)):
        title, settings = str(given.doc.user_data.get("title") or ""), {"lang": given.doc.lang_}
        rows = _rows(given, n_best)
    elif isinstance(given, Tree):
        rows = [[Entry(given)]]
    else:
        raise IncparseError(
            f"only a Doc, a Span or a Tree can be drawn, or dicts with manual=True, not {type(given).__name__}"
        )
    if gold is not None:
        expected = list(islice(gold, len(rows)))
        if len(expected) < len(rows):
            raise IncparseError('the option "gold" has fewer trees than there are trees to draw: pass one for each')
        rows = [compared(one, row[0].tree) for one, row in zip(expected, rows, strict=True)]
    given_settings = {name: settings[name] for name in _SETTINGS if settings.get(name)}
    return Picture(rows, read_options(given_settings | look, OWN_OPTIONS), title)


def _rows(given: Doc | Span, n_best: int) -> Sequence[Sequence[Entry]]:
    """Return the trees of a Doc, or the node over a Span; if the Span is not a constituent, its sentences' trees.

    If several are wanted, the best trees of each sentence stand side by side, with differences from the first marked.
    """
    from spacy_incparse.documents.doc_tree import doc_parses

    rows: list[Sequence[Entry]] = []
    node = span_tree(given) if isinstance(given, Span) and n_best == 1 else None
    if node:
        return [[Entry(node)]]
    parsed: Iterable[Any] = doc_parses(given.doc, n_best) if n_best > 1 else doc_trees(given.doc)
    for parses in parsed:
        trees = [one.tree for one in parses] if n_best > 1 else [parses]
        if isinstance(given, Span) and not (
            trees[0].start_char < given.end_char and given.start_char < trees[0].end_char
        ):
            continue
        if n_best == 1:
            rows.append([Entry(trees[0])])
            continue
        shares = ["" if one.probability is None else f" · {one.probability:.0%}" for one in parses]
        captions = [f"{k} · score {one.score:.6g}{shares[k - 1]}" for k, one in enumerate(parses, start=1)]
        rows.append(side_by_side(trees, captions))
    if not rows and given.text.strip():
        warnings.warn(
            f"{given.text[:40]!r} has no tree: parse it first, with a pipeline that sets sentence boundaries and has "
            "the component 'incparse'",
            stacklevel=6,
        )
    return rows


def _read_tree(given: Any) -> Tree:
    if isinstance(given, Tree):
        return given
    return Tree.from_string(given) if isinstance(given, str) else Tree.from_dict(given)


_IN_BITS = ("surprisal", "surprisal_syntactic", "surprisal_lexical", "entropy", "entropy_reduction", "prefix_logprob")


def plot_measures(span: Doc | Span, measures: str | Sequence[str] = "surprisal", **options: Any) -> str:
    """Return an SVG document with the measures of each word of a sentence; a question mark stands for a missing value.

    measures: one or several of `generative.measures.MEASURES`. options: the options of `viz.plot.plot` (style, title,
    width, ...). Raises ConfigError for an unknown measure, and IncparseError if the Doc has no measures: they come from
    a component with a generative model and `measures = true`.
    """
    check_type("measures", measures, (str, Iterable), f"one or several of {', '.join(MEASURES)}")
    names = [measures] if isinstance(measures, str) else list(measures)
    for name in names:
        if name not in MEASURES:
            raise ConfigError(f"unknown measure {name!r}: choose one of {', '.join(MEASURES)}")
    if not isinstance(span, Doc | Span):
        advice = "pass the Span of a sentence, such as tree.span for a tree"
        raise IncparseError(
            f"only the measures of a Doc or a Span can be drawn, not of a {type(span).__name__}: {advice}"
        )
    tokens = [token for token in span if not token.is_space]
    found = [token_measures(token) for token in tokens]
    series = {name.replace("_", " "): [getattr(values, name) for values in found] for name in names}
    unit = "bits" if all(name in _IN_BITS for name in names) else ""
    words = [token.text for token in tokens]
    return plot(words, series if len(names) > 1 else next(iter(series.values())), **{"unit": unit, **options})


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
        from IPython.display import HTML, display

        if page:  # goes into a frame, to isolate its styles and scripts
            look = f"width:100%;height:{_FRAME_HEIGHT}px;border:0"
            html = f'<iframe sandbox="allow-scripts" style="{look}" srcdoc="{escape(html)}"></iframe>'
        # Without this class, notebooks interpret dollar signs as math.
        display(HTML(f'<div class="tex2jax_ignore" style="overflow-x:auto">{html}</div>'))
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
    check_type("host", host, str, "a name or an address, such as '127.0.0.1'")
    html = render(docs, style, page=page, minify=minify, jupyter=False, options=options, manual=manual)
    if not isinstance(port, int) or not 0 <= port <= _LAST_PORT:
        raise IncparseError(f"port {port!r}: pass a number from 0 to {_LAST_PORT}")
    with socket.socket() as probe:
        try:
            probe.bind((host, port))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise IncparseError(f"port {port} of {host!r} cannot be served: {error.strerror}") from None
    try:
        port = find_available_port(port, host, auto_select_port)
    except ValueError:
        raise IncparseError(
            f"port {port} of {host} is in use: choose another port, or pass auto_select_port=True"
        ) from None
    content = (html or "").encode("utf8")

    def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        headers = [("Content-Type", "text/html; charset=utf-8"), ("Content-Length", str(len(content)))]
        start_response("200 OK", headers)
        return [content]

    with make_server(host, port, application) as server:
        print(f"\nUsing the '{style}' visualizer\nServing on http://{host}:{port} ...\n")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print(f"Shutting down server on port {port}.")


def set_render_wrapper(function: Callable[[str], str] | None) -> None:
    """Set a function that transforms the markup of `render`, for other platforms; None removes it."""
    global _render_wrapper
    if function is not None and not callable(function):
        raise IncparseError(f"the render wrapper has to be a function, not {function!r}")
    _render_wrapper = function
