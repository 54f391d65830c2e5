"""The attributes `doc._.trees` and `span._.tree`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from spacy.tokens import Doc, Span

from spacy_incparse.pipeline.storage import ATTRIBUTE, anchored_tree_over, anchored_trees
from spacy_incparse.trees.tree import Tree


def doc_trees(doc: Doc) -> tuple[Tree, ...]:
    """Return the trees of the Doc's sentences in order; () where it has not been parsed.

    The root of each has the label TOP. `start` and `end` of a node count the words of its own sentence, which are
    `tree.words`: whitespace tokens are none of them.
    """
    return tuple(found.tree for found in anchored_trees(doc))


def span_tree(span: Span) -> Tree | None:
    """Return the node over exactly the span: the outermost phrase of a unary chain, a POS node where only that fits.

    None where the span is no constituent, or its sentence has no tree. Whitespace tokens at the span's borders do not
    count.
    """
    start, end = span.start, span.end
    doc = span.doc
    while start < end and doc[start].is_space:
        start += 1
    while start < end and doc[end - 1].is_space:
        end -= 1
    if start == end:
        return None
    found = anchored_tree_over(span)
    return None if found is None else found.node_at(doc[start].idx, doc[end - 1].idx + len(doc[end - 1]))


def register_extensions() -> None:
    """Declare the attributes; a name that somebody else has taken is left to them, with a warning."""
    if not Span.has_extension(ATTRIBUTE):
        Span.set_extension(ATTRIBUTE, default=None)
    attributes: tuple[tuple[Any, str, Callable], ...] = ((Doc, "trees", doc_trees), (Span, "tree", span_tree))
    for owner, name, getter in attributes:
        if not owner.has_extension(name):
            owner.set_extension(name, getter=getter)
        elif owner.get_extension(name)[2] is not getter:
            warnings.warn(
                f"{owner.__name__}._.{name} belongs to somebody else: use spacy_incparse.pipeline.extensions."
                f"{getter.__name__}() to get at the trees",
                stacklevel=2,
            )
