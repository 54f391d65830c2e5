"""Convert Docs, Spans, trees and dicts to the pictures that `viz` draws."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from spacy.tokens import Doc, Span
from spacy.util import registry

from spacy_incparse.documents.extensions import doc_trees, span_tree
from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.trees.tree import Tree
from spacy_incparse.viz.options import checked_colors, read_options
from spacy_incparse.viz.picture import Entry, Picture, compared, side_by_side

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
    gold = _gold_trees(options.get("gold"))
    n_best = _n_best(options.get("nbest"))
    if gold is not None and n_best > 1:
        raise ConfigError('the options "gold" and "nbest" exclude each other')
    look = {name: value for name, value in options.items() if name not in OWN_OPTIONS}
    look["colors"] = _registered_colors() | dict(checked_colors(look.get("colors", {})))
    pictures = [_picture(one, look, n_best, gold, manual) for one in several]
    if gold is not None and next(gold, None) is not None:
        raise IncparseError('the option "gold" has more trees than there are trees to draw')
    return pictures


def _picture(given: Drawable, look: dict[str, Any], n_best: int, gold: Iterator[Tree] | None, manual: bool) -> Picture:
    title, settings = "", {}
    rows: Sequence[Sequence[Entry]] = []
    if isinstance(given, Mapping) and manual:
        title, settings = str(given.get("title") or ""), dict(given.get("settings") or {})
        _check_settings(settings)
        rows = [[Entry(tree)] for tree in _trees_of_dict(given)]
    elif isinstance(given, (Doc, Span)):
        doc = given.doc if isinstance(given, Span) else given
        title, settings = str(doc.user_data.get("title") or ""), {"lang": doc.lang_}
        rows = _analyses(given, n_best) if n_best > 1 else [[Entry(tree)] for tree in _trees_of(given)]
    elif isinstance(given, Tree):
        rows = [[Entry(given)]]
    else:
        raise IncparseError(
            f"only a Doc, a Span or a Tree can be drawn, or dicts with manual=True, not {type(given).__name__}"
        )
    if gold is not None:
        rows = [compared(_next_gold(gold), row[0].tree) for row in rows]
    given_settings = {name: settings[name] for name in _SETTINGS if settings.get(name)}
    return Picture(rows, read_options(given_settings | look, OWN_OPTIONS), title)


def _check_settings(settings: Mapping[str, Any]) -> None:
    for name in settings:
        if name not in _SETTINGS:
            raise ConfigError(f"unknown setting {name!r} of a dict to draw: choose from {', '.join(_SETTINGS)}")


def _trees_of(given: Doc | Span) -> Sequence[Tree]:
    """Return the trees of a Doc, or the node over a Span; if the Span is not a constituent, its sentences' trees."""
    if isinstance(given, Doc):
        trees: Sequence[Tree] = doc_trees(given)
    else:
        node = span_tree(given)
        trees = [node] if node else [tree for tree in doc_trees(given.doc) if _overlap(tree, given)]
    if not trees:
        _warn_unparsed(given)
    return trees


def _warn_unparsed(given: Doc | Span) -> None:
    if given.text.strip():
        warnings.warn(
            f"{given.text[:40]!r} has no tree: parse it first, with a pipeline that sets sentence boundaries and has "
            "the component 'incparse'",
            stacklevel=7,
        )


def _analyses(given: Doc | Span, k: int) -> Sequence[Sequence[Entry]]:
    """Return the best trees of each sentence side by side, with differences from the best tree marked."""
    from spacy_incparse.documents.doc_parses import doc_parses

    doc = given.doc if isinstance(given, Span) else given
    rows: list[Sequence[Entry]] = []
    for parses in doc_parses(doc, k):
        if isinstance(given, Span) and not _overlap(parses[0].tree, given):
            continue
        shares = ["" if one.probability is None else f" · {one.probability:.0%}" for one in parses]
        captions = [f"{k} · score {one.score:.6g}{shares[k - 1]}" for k, one in enumerate(parses, start=1)]
        rows.append(side_by_side([one.tree for one in parses], captions))
    if not rows:
        _warn_unparsed(given)
    return rows


def _overlap(tree: Any, span: Span) -> bool:
    return tree.start_char < span.end_char and span.start_char < tree.end_char


def _trees_of_dict(given: Mapping[str, Any]) -> list[Tree]:
    """Return the trees of a dict with "trees" or "tree", or of one that `Tree.to_dict` returned."""
    trees = given.get("trees", [given["tree"]] if "tree" in given else [given])
    return [_read_tree(tree) for tree in trees]


def _read_tree(given: Any) -> Tree:
    if isinstance(given, Tree):
        return given
    return Tree.from_string(given) if isinstance(given, str) else Tree.from_dict(given)


def _gold_trees(gold: Any) -> Iterator[Tree] | None:
    """Return the gold trees to compare with, one for each drawn tree."""
    if gold is None:
        return None
    if isinstance(gold, (Tree, str)):
        return iter([_read_tree(gold)])
    if not isinstance(gold, Iterable):
        raise ConfigError(f'the option "gold" is {gold!r}; it must be a tree, or a list of trees')
    return iter(doc_trees(gold) if isinstance(gold, Doc) else [_read_tree(tree) for tree in gold])


def _next_gold(gold: Iterator[Tree]) -> Tree:
    for tree in islice(gold, 1):
        return tree
    raise IncparseError('the option "gold" has fewer trees than there are trees to draw: pass one for each')


def _n_best(value: Any) -> int:
    if value is None:
        return 1
    if not isinstance(value, int) or value < 1:
        raise ConfigError(f'the option "nbest" is {value!r}; it must be a whole number of 1 or more')
    return value


def _registered_colors() -> dict[str, str]:
    """Return the label colors that packages have registered with spaCy for displaCy."""
    colors: dict[str, str] = {}
    for found in registry.displacy_colors.get_all().values():
        colors |= found() if callable(found) else found
    return colors
