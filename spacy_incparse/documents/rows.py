"""A sentence with its tree as a flat row, for tables and JSON lines; docs/annotate.md describes the fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import srsly

from spacy_incparse.errors import IncparseError, parquet_module
from spacy_incparse.files import existing_paths
from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.export import from_dict
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from spacy.tokens import Doc

    from spacy_incparse.documents.storage import AnchoredTree

Row = dict[str, Any]


def sentence_rows(doc: Doc) -> Iterator[Row]:
    """Yield a row for each sentence of a parsed Doc.

    Characters are counted in the Doc's text. `start` and `end` of a span count the tokens of its sentence, and `parent`
    is the index of the phrase around it in the list; -1 for the root. Spans are in pre-order, without POS nodes.
    """
    from spacy_incparse.documents.storage import anchored_trees  # files are read without spaCy
    from spacy_incparse.documents.stored_fields import stored_probability

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


MANIFEST = "manifest.json"


def annotated_format(folder: str | Path) -> str | None:
    """Return the output format that the manifest of an annotated corpus names; None if the folder is none."""
    try:
        manifest = srsly.read_json(Path(folder) / MANIFEST)
    except (OSError, ValueError):
        return None
    return manifest.get("output_format") if isinstance(manifest, dict) else None


PARQUET = ".parquet"
_DOCUMENTS = "documents"  # the folder whose files have no sentences
_ROWS = 1000  # at a time


def sentence_files(path: str | Path) -> list[Path]:
    """Return the Parquet files with sentences for a file, a folder or a glob, sorted; [] if there are none."""
    named = existing_paths(path)
    return [file for one in named for file in (_in_folder(one) if one.is_dir() else [one]) if file.suffix == PARQUET]


def read_rows(path: Path, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file with these columns. Raises IncparseError if it is damaged or lacks one of them."""
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
        for batch in file.iter_batches(batch_size=_ROWS, columns=list(columns)):
            yield from batch.to_pylist()


def _in_folder(folder: Path) -> list[Path]:
    files = sorted(folder.rglob(f"*{PARQUET}"))
    return [file for file in files if file.parent.name != _DOCUMENTS and not file.name.startswith(".")]
