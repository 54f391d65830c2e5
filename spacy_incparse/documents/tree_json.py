"""Convert the trees of a Doc to plain JSON, for other programs."""

from __future__ import annotations

from typing import Any

from spacy.tokens import Doc

from spacy_incparse.documents.doc_tree import DocTree
from spacy_incparse.documents.extensions import doc_trees
from spacy_incparse.errors import IncparseError


def trees_to_json(doc: Doc) -> list[dict[str, Any]]:
    """Return the sentences of a Doc with their trees as nested, JSON-serializable dicts.

    A sentence has "text", "start", "end", "score", "source" and "tree". A node has "label", "start", "end" and
    "children"; a word has no children, and additionally "text". All `start` and `end` are character offsets in the
    Doc's text, as in `doc.to_json()`. Raises IncparseError if a stored tree is damaged, and for anything but a Doc.
    """
    if not isinstance(doc, Doc):
        raise IncparseError(f"{doc!r:.60} is no Doc: pass one, such as span.as_doc(copy_user_data=True)")
    return [_sentence(tree) for tree in doc_trees(doc)]


def _sentence(tree: DocTree) -> dict[str, Any]:
    return {
        "text": tree.text,
        "start": tree.start_char,
        "end": tree.end_char,
        "score": tree.score,
        "source": tree.source,
        "tree": _nested(tree),
    }


def _nested(tree: DocTree) -> dict[str, Any]:
    made: list[dict[str, Any]] = []  # by node index; parents come first
    for node in tree.preorder():
        json: dict[str, Any] = {"label": node.label, "start": node.start_char, "end": node.end_char, "children": []}
        if node.is_leaf:
            json["text"] = node.words[0]
        parent = tree.arrays.parents[node.index]
        if parent >= 0:
            made[parent]["children"].append(json)
        made.append(json)
    return made[0]
