"""benepar's attribute names, for code that was written for benepar."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from spacy_incparse.tokens import BRACKETS
from spacy_incparse.trees.labels import WRAPPERS

if TYPE_CHECKING:
    from spacy.tokens import Span, Token

    from spacy_incparse.trees.tree import Tree

_ESCAPES = str.maketrans({bracket: f"-{name}-" for bracket, name in BRACKETS.items()})


class NonConstituentException(Exception):  # noqa: N818  benepar's name
    """Raised if a span is not a constituent."""


def install_benepar_names() -> None:
    """Register benepar's attributes on Span and Token, replacing any that are already registered under these names.

    Nothing else in this package registers these names, so benepar can be imported alongside it. After this call
    benepar can no longer be imported, because it insists on registering them itself.

        from spacy_incparse.compat import NonConstituentException, install_benepar_names

        install_benepar_names()
        nlp.add_pipe("incparse", config={"model": "en"})

    Then `span._.labels`, `parse_string`, `constituents`, `parent` and `children`, and `token._.labels`, `parse_string`
    and `parent`, return what benepar's return for the same tree, with two differences. Whitespace tokens are not part
    of our trees: they are ignored at the edges of a span and are leaves of their own. If a token has no tag,
    `parse_string` uses the tag in the tree.
    """
    from spacy.tokens import Span, Token

    import spacy_incparse.pipeline.parser  # noqa: F401  registers the component
    from spacy_incparse.documents.extensions import refuse_of_tree

    owners: tuple[tuple[Any, dict[str, Any]], ...] = ((Span, _SPAN_GETTERS), (Token, _TOKEN_GETTERS))
    for owner, getters in owners:
        for name, getter in getters.items():
            owner.set_extension(name, getter=getter, setter=refuse_of_tree, force=True)


def span_labels(span: Span) -> tuple[str, ...]:
    """Return the labels of the phrases over a span, outermost first; () for a word that is not a phrase.

    Raises NonConstituentException if the span is not a constituent, and a bare Exception if the Doc has no trees. The
    other functions raise the same errors.
    """
    return tuple(node.label for node in _chain(_constituent(span)) if not node.is_leaf and not _is_root(node))


def span_parse_string(span: Span) -> str:
    """Return the brackets of a constituent on one line, without the root."""
    top = _constituent(span)
    pieces: list[str] = []
    open_ends: list[int] = []
    for node in top.preorder():
        if not node.is_leaf and not _is_root(node):
            pieces.append(f"({node.label} ")
            open_ends.append(node.index + node.size)
        elif node.is_leaf:
            tag = node.tokens[0].tag_ or node.label
            pieces.append(f"({f'{tag} {node.words[0]}'.translate(_ESCAPES)})")
            while open_ends and open_ends[-1] == node.index + 1:
                pieces.append(")")
                open_ends.pop()
            pieces.append(" ")
    return "".join(pieces[:-1])


def span_constituents(span: Span) -> Iterator[Span]:
    """Yield the constituent and all constituents below it in pre-order, including words.

    As in `span_children`, errors are raised when the first item is requested.
    """
    top = _constituent(span)
    yield from _spans(node for node in top.preorder() if node.index == top.index or not _is_only_child(node))


def span_children(span: Span) -> Iterator[Span]:
    """Yield the children of a constituent from left to right."""
    *_, bottom = _chain(_constituent(span))
    yield from _spans(bottom)


def span_parent(span: Span) -> Span | None:
    """Return the parent of a constituent; None for a sentence."""
    node = _constituent(span).parent
    while node is not None:
        if (found := next(_spans([node]), None)) is not None:
            return found
        node = node.parent
    return None


def token_labels(token: Token) -> tuple[str, ...]:
    """Return the labels of the phrases that cover only this word; () for whitespace."""
    return () if token.is_space else span_labels(_span(token))


def token_parse_string(token: Token) -> str:
    """Return the brackets of the word and of the phrases that cover only this word."""
    return f"({token.tag_} {token.text})" if token.is_space else span_parse_string(_span(token))


def token_parent(token: Token) -> Span | None:
    """Return the parent of the word; for whitespace, the smallest constituent around it."""
    if not token.is_space:
        return span_parent(_span(token))
    from spacy_incparse.documents.doc_tree import DocTree
    from spacy_incparse.documents.storage import anchored_tree_over

    found = anchored_tree_over(_span(token))
    if found is None:
        return None
    path = found.path_to(token.idx, token.idx + len(token))
    return next(_spans(DocTree(token.doc, found, node) for node in reversed(path)), None)


_SPAN_GETTERS = {
    "labels": span_labels,
    "parse_string": span_parse_string,
    "constituents": span_constituents,
    "parent": span_parent,
    "children": span_children,
}
_TOKEN_GETTERS = {"labels": token_labels, "parse_string": token_parse_string, "parent": token_parent}


def _constituent(span: Span) -> Tree:
    """Return the highest node over the span."""
    from spacy_incparse.documents.extensions import span_tree
    from spacy_incparse.documents.storage import stored_trees

    node = span_tree(span)
    if node is not None:
        return node
    if not stored_trees(span.doc):
        raise Exception("the Doc has no trees: add the component 'incparse' to the pipeline")
    if span.start == len(span.doc):
        raise IndexError("an empty span after the last token")  # as in benepar
    raise NonConstituentException(f"not a constituent: {span.text!r}")


def _chain(node: Tree) -> list[Tree]:
    """Return this node and the nodes below it in its unary chain."""
    chain = [node]
    while not chain[-1].is_leaf and _is_only_child(below := next(iter(chain[-1]))):
        chain.append(below)
    return chain


def _spans(nodes: Iterable[Any]) -> Iterator[Span]:
    """Yield the tokens of each node, skipping nodes whose edge lies inside a merged token."""
    for node in nodes:
        span = node.span
        if span is not None:
            yield node.doc[span.start : span.end]


def _is_root(node: Tree) -> bool:
    return node.index == 0 and node.label in WRAPPERS  # not part of benepar's trees


def _is_only_child(node: Tree) -> bool:
    return node.parent is not None and node.parent.size == node.size + 1


def _span(token: Token) -> Span:
    return token.doc[token.i : token.i + 1]
