"""The custom attributes of Docs, Spans and Tokens."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from spacy.tokens import Doc, Span, Token

from spacy_incparse.documents.doc_tree import DocTree, doc_parses
from spacy_incparse.documents.storage import ATTRIBUTE, AnchoredTree, anchored_tree_over, anchored_trees
from spacy_incparse.documents.word_measures import register_measures, token_measures
from spacy_incparse.errors import IncparseError


def doc_trees(doc: Doc) -> tuple[DocTree, ...]:
    """Return the trees of the Doc's sentences in order; () if it has not been parsed.

    The root of each tree has the label TOP. `start` and `end` of a node count the words of its own sentence
    (`tree.words`), without whitespace tokens. Raises IncparseError if a stored tree is damaged or from an unsupported
    version.
    """
    return tuple(DocTree(doc, found) for found in anchored_trees(doc))


def span_tree(span: Span) -> DocTree | None:
    """Return the node that covers exactly the span: the outermost phrase of a unary chain, or else a POS node.

    Return None if the span is not a constituent, or its sentence has no tree. Whitespace tokens at the span's edges are
    ignored. A stored tree that cannot be read causes a warning, not an error.
    """
    doc, start, end = span.doc, span.start, span.end
    while start < end and doc[start].is_space:
        start += 1
    while start < end and doc[end - 1].is_space:
        end -= 1
    found = None if start == end else _sentence_tree(span)
    if found is None:
        return None
    index = found.node_at(doc[start].idx, doc[end - 1].idx + len(doc[end - 1]))
    return None if index is None else DocTree(doc, found, index)


def span_is_constituent(span: Span) -> bool:
    """Return whether some node of the tree, including POS nodes, covers exactly the span."""
    return span_tree(span) is not None


def token_tree_path(token: Token) -> tuple[DocTree, ...]:
    """Return the nodes that cover the token, from the root down to its POS node.

    For a token that was merged after parsing, the last node is the lowest one that covers it. Return () for whitespace,
    and if the sentence has no tree. As in `span_tree`, unreadable trees cause a warning, not an error.
    """
    found = None if token.is_space else _sentence_tree(token.doc[token.i : token.i + 1])
    if found is None:
        return ()
    return tuple(DocTree(token.doc, found, i) for i in found.path_to(token.idx, token.idx + len(token)))


def register_extensions() -> None:
    """Register the attributes; if a name is already taken, keep the existing attribute and warn."""
    register_measures()
    if not Span.has_extension(ATTRIBUTE):
        Span.set_extension(ATTRIBUTE, default=None)
    getters: tuple[tuple[Any, str, Callable], ...] = (
        (Doc, "trees", doc_trees),
        (Span, "tree", span_tree),
        (Span, "is_constituent", span_is_constituent),
        (Token, "tree_path", token_tree_path),
        (Token, ATTRIBUTE, token_measures),
    )
    for owner, name, getter in getters:
        _register(owner, name, getter=getter)
    _register(Doc, "parses", method=doc_parses)


def _register(owner: Any, name: str, **functions: Callable) -> None:
    (function,) = functions.values()
    if not owner.has_extension(name):
        owner.set_extension(name, **functions)
    elif function not in owner.get_extension(name):
        warnings.warn(
            f"{owner.__name__}._.{name} is already registered by another package: use "
            f"spacy_incparse.documents.extensions.{function.__name__}() to access the trees",
            stacklevel=3,
        )


def _sentence_tree(span: Span) -> AnchoredTree | None:
    try:
        return anchored_tree_over(span)
    except IncparseError as error:
        warnings.warn(f"no tree for {span.text!r}: {error}", stacklevel=3)
        return None
