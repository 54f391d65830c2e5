"""Trees as plain JSON, for other programs: flat rows for tables (see docs/annotate.md), and nested dicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import srsly

from spacy_incparse.errors import IncparseError, parquet_module
from spacy_incparse.files import existing_paths
from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.codec import PROBABILITY, stored_number
from spacy_incparse.trees.export import from_dict
from spacy_incparse.trees.labels import TRACE_TAG
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from spacy.tokens import Doc

Row = dict[str, Any]


def sentence_rows(doc: Doc) -> Iterator[Row]:
    """Yield a row for each sentence of a parsed Doc.

    Characters are counted in the Doc's text. `start` and `end` of a span count the tokens of its sentence, and `parent`
    is the index of the phrase around it in the list; -1 for the root. Spans are in pre-order, without POS nodes.
    """
    from spacy_incparse.documents.storage import anchored_trees  # files are read without spaCy

    for number, found in enumerate(anchored_trees(doc)):
        origin = found.start_char
        leaves = zip(found.tree.words, found.char_starts, found.char_ends, found.tree.tags, strict=True)
        yield {
            "sentence": number,
            "start": found.start_char,
            "end": found.end_char,
            "text": found.text,
            "brackets": str(found.tree.with_empties()),
            "score": found.score,
            "probability": stored_number(found.more, PROBABILITY),
            "source": found.source,
            "tokens": [
                {"text": word, "start": origin + start, "end": origin + end, "tag": tag}
                for word, start, end, tag in leaves
            ],
            "spans": phrase_rows(found.tree.arrays),
        }


def phrase_rows(arrays: TreeArrays) -> list[Row]:
    """Return label, first token, token after the last, parent and function of each phrase, in pre-order."""
    rows: list[Row] = []
    numbers: dict[int, int] = {-1: -1}  # of the phrases among the nodes
    for node, size in enumerate(arrays.sizes):
        if size > 1:
            numbers[node] = len(rows)
            parent = numbers[arrays.parents[node]]
            bounds = {"start": arrays.starts[node], "end": arrays.ends[node]}
            functions = "-".join(arrays.functions_of(node))
            rows.append({"label": arrays.labels[node], **bounds, "parent": parent, "function": functions})
    return rows


def relation_rows(doc: Doc) -> Iterator[Row]:
    """Yield a row for each relation of a parsed Doc, in the order of sentences and verbs.

    `verb` and `head` are numbers of tokens of the sentence, `start` and `end` the characters of the phrase in the Doc's
    text, and `span` its index in the list of `phrase_rows`; for a word, that of the phrase around it.
    """
    from spacy_incparse.documents.relations import tree_relations
    from spacy_incparse.documents.storage import anchored_trees

    for number, found in enumerate(anchored_trees(doc)):
        arrays, origin = found.tree.arrays, found.start_char
        numbers = list(accumulate(size > 1 for size in arrays.sizes))
        for one in tree_relations(found):
            phrase = one.node if arrays.sizes[one.node] > 1 else arrays.parents[one.node]
            yield {
                "sentence": number,
                "verb": one.verb,
                "head": one.head,
                "start": origin + found.char_starts[arrays.starts[one.node]],
                "end": origin + found.char_ends[arrays.ends[one.node] - 1],
                "span": numbers[phrase] - 1,
                **{name: getattr(one, name) for name in ("relation", "function", "understood", "negated")},
            }


def row_tree(row: Mapping[str, Any]) -> Tree:
    """Return the tree of a row. Raises IncparseError if its tokens and spans are not those of a tree."""
    is_annotated = TRACE_TAG in row["brackets"] or any(span.get("function") for span in row["spans"])
    tree = Tree.from_string(row["brackets"]).remove_empties() if is_annotated else None
    return tree or Tree(from_dict(row))


def trees_to_json(doc: Doc) -> list[Row]:
    """Return the sentences of a Doc with their trees as nested, JSON-serializable dicts.

    A sentence has "text", "start", "end", "score", "source" and "tree". A node has "label", "start", "end" and
    "children"; a word has no children, and additionally "text". Function tags are "functions" of a node, and empty
    categories "empties" of their phrase, each with "type", "label", "functions", "position" and the "start" and "end"
    of the "antecedent", or null; both are left out where there are none. All `start` and `end` are character
    offsets in the Doc's text, as in `doc.to_json()`. Raises IncparseError if a stored tree is damaged, and for
    anything but a Doc.
    """
    from spacy.tokens import Doc

    from spacy_incparse.documents.extensions import doc_trees

    if not isinstance(doc, Doc):
        raise IncparseError(f"{doc!r:.60} is no Doc: pass one, such as span.as_doc(copy_user_data=True)")
    found = []
    for tree in doc_trees(doc):
        made: list[Row] = []  # by node index; parents come first
        for node in tree.preorder():
            json: Row = {"label": node.label, "start": node.start_char, "end": node.end_char, "children": []}
            if node.is_leaf:
                json["text"] = node.words[0]
            if node.functions:
                json["functions"] = list(node.functions)
            parent = tree.arrays.parents[node.index]
            if parent >= 0:
                made[parent]["children"].append(json)
            made.append(json)
        for trace in tree.empties:
            overt = trace.overt
            made[trace.stored.parent].setdefault("empties", []).append(
                {
                    "type": trace.type,
                    "label": trace.label,
                    "functions": list(trace.functions),
                    "position": trace.position,
                    "antecedent": overt and {"start": overt.start_char, "end": overt.end_char},
                }
            )
        bounds = {"text": tree.text, "start": tree.start_char, "end": tree.end_char}
        found.append({**bounds, "score": tree.score, "source": tree.source, "tree": made[0]})
    return found


MANIFEST = "manifest.json"


def annotated_format(folder: str | Path) -> str | None:
    """Return the output format that the manifest of an annotated corpus names; None if the folder is none."""
    try:
        manifest = srsly.read_json(Path(folder) / MANIFEST)
    except (OSError, ValueError):
        return None
    return manifest.get("output_format") if isinstance(manifest, dict) else None


PARQUET = ".parquet"
_NO_SENTENCES = ("documents", "relations")  # folders whose files have none
_ROWS = 1000  # at a time


def sentence_files(path: str | Path) -> list[Path]:
    """Return the Parquet files with sentences for a file, a folder or a glob, sorted; [] if there are none."""
    files: list[Path] = []
    for named in existing_paths(path):
        inside = sorted(named.rglob(f"*{PARQUET}")) if named.is_dir() else [named]
        shown = [one for one in inside if one.parent.name not in _NO_SENTENCES and not one.name.startswith(".")]
        files += shown if named.is_dir() else inside
    return [file for file in files if file.suffix == PARQUET]


def read_rows(path: Path, columns: Sequence[str], *more: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file with these columns, and with `more` where it has them.

    Raises IncparseError if it is damaged or lacks one of the columns.
    """
    parquet = parquet_module()
    try:
        file = parquet.ParquetFile(path)
    except ValueError as error:  # pyarrow's own are ValueErrors
        raise IncparseError(f"{path}: the file is not Parquet, or is damaged: {error}") from None
    with file:
        missing = [name for name in columns if name not in file.schema_arrow.names]
        if missing:
            raise IncparseError(
                f"{path}: there is no column {missing[0]!r}: a table of sentences is expected, as `spacy-incparse "
                f"annotate` writes it to the folder sentences"
            )
        columns = [*columns, *(name for name in more if name in file.schema_arrow.names)]
        for batch in file.iter_batches(batch_size=_ROWS, columns=columns):
            yield from batch.to_pylist()
