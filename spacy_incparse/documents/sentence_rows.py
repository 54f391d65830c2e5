"""A sentence with its tree as a flat row, for tables and JSON lines; docs/annotate.md describes the fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from spacy.tokens import Doc

from spacy_incparse.documents.stored_fields import stored_probability
from spacy_incparse.documents.tree_storage import AnchoredTree, anchored_trees
from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.dicts import from_dict
from spacy_incparse.trees.tree import Tree

Row = dict[str, Any]


def sentence_rows(doc: Doc) -> Iterator[Row]:
    """Yield a row for each sentence of a parsed Doc.

    Characters are counted in the Doc's text. `start` and `end` of a span count the tokens of its sentence, and `parent`
    is the index of the phrase around it in the list; -1 for the root. Spans are in pre-order, without POS nodes.
    """
    for number, found in enumerate(anchored_trees(doc)):
        yield {
            "sentence": number,
            "start": found.start_char,
            "end": found.end_char,
            "text": found.text,
            "brackets": str(found.tree),
            "score": found.score,
            "probability": stored_probability(found.more),
            "source": found.source,
            "tokens": list(_tokens(found)),
            "spans": phrase_rows(found.tree.arrays),
        }


def phrase_rows(arrays: TreeArrays) -> list[Row]:
    """Return label, first token, token after the last, and parent of each phrase, in pre-order."""
    rows: list[Row] = []
    numbers: dict[int, int] = {-1: -1}  # of the phrases among the nodes
    for node, size in enumerate(arrays.sizes):
        if size > 1:
            numbers[node] = len(rows)
            parent = numbers[arrays.parents[node]]
            bounds = {"start": arrays.starts[node], "end": arrays.ends[node]}
            rows.append({"label": arrays.labels[node], **bounds, "parent": parent})
    return rows


def row_tree(row: Mapping[str, Any]) -> Tree:
    """Return the tree of a row. Raises IncparseError if its tokens and spans are not those of a tree."""
    return Tree(from_dict(row))


def _tokens(found: AnchoredTree) -> Iterator[Row]:
    origin = found.start_char
    fields = zip(found.tree.words, found.char_starts, found.char_ends, found.tree.tags, strict=True)
    for word, start, end, tag in fields:
        yield {"text": word, "start": origin + start, "end": origin + end, "tag": tag}
