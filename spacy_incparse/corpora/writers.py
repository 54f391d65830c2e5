"""Writers: each turns the parsed documents of a shard into files. A new one is an entry in `WRITERS`.

What handles Docs is imported where it is used: a process that only looks up a format need not import spaCy.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import srsly

from spacy_incparse.corpora.records import Document
from spacy_incparse.documents.rows import sentence_rows
from spacy_incparse.errors import IncparseError, optional_module, parquet_module

if TYPE_CHECKING:
    from spacy.tokens import Doc


class Parsed(NamedTuple):
    """A parsed document and its number in the corpus."""

    number: int
    document: Document
    doc: Doc


@dataclass(frozen=True)
class Writer:
    """A format of output: the function that returns the files of a shard, by their names in the output folder.

    check: raises IncparseError if something that the format needs is not installed. check_doc: raises any error if a
    Doc cannot be written. table: returns the file of another table, by its name without a suffix; None: there are none.
    """

    name: str
    files: Callable[[str, Iterable[Parsed]], dict[str, bytes]]
    check: Callable[[], object] = lambda: None
    check_doc: Callable[[Doc], object] = lambda doc: None
    table: Callable[[str, Columns, Iterable[dict[str, Any]]], dict[str, bytes]] | None = None


_TYPES = {"string": "string", "int": "int32", "long": "int64", "double": "float64", "boolean": "bool_"}

# Column -> type: a name of `_TYPES`, or the fields of the structs of a list. Spark has the same names for its types.
Columns = Mapping[str, "str | Mapping[str, str]"]
DOCUMENTS: Columns = {"document": "long", "id": "string", "file": "string", "text": "string", "meta": "string"}
SENTENCES: Columns = {
    "document": "long",
    "id": "string",
    "sentence": "int",
    "start": "long",
    "end": "long",
    "text": "string",
    "brackets": "string",
    "score": "double",
    "probability": "double",
    "source": "string",
    "tokens": {"text": "string", "start": "long", "end": "long", "tag": "string"},
    "spans": {"label": "string", "start": "int", "end": "int", "parent": "int", "function": "string"},
}

RELATIONS: Columns = {
    "document": "long", "id": "string", "sentence": "int", "verb": "int", "head": "int", "start": "long", "end": "long",
    "span": "int", "relation": "string", "function": "string", "understood": "boolean", "negated": "boolean",
}  # fmt: skip


class _Table:
    """A Parquet file that is written to memory, row group by row group."""

    def __init__(self, columns: Columns, group: int):
        self._schema, self._group = arrow_schema(columns), group
        self._rows: list[dict[str, Any]] = []
        self._file = io.BytesIO()
        self._writer = parquet_module().ParquetWriter(self._file, self._schema, compression="zstd")

    def add(self, rows: Iterable[dict[str, Any]]) -> None:
        self._rows += rows
        while len(self._rows) >= self._group:
            self._write(self._rows[: self._group])
            del self._rows[: self._group]

    def to_bytes(self) -> bytes:
        if self._rows:
            self._write(self._rows)
        self._writer.close()
        return self._file.getvalue()

    def _write(self, rows: list[dict[str, Any]]) -> None:
        self._writer.write_table(arrow_table(rows, self._schema))


def arrow_schema(columns: Columns) -> Any:
    """Return the pyarrow schema of columns."""
    pyarrow = _pyarrow()

    def arrow_type(kind: str | Mapping[str, str]) -> Any:
        if isinstance(kind, str):
            return getattr(pyarrow, _TYPES[kind])()
        return pyarrow.list_(pyarrow.struct({name: arrow_type(one) for name, one in kind.items()}))

    return pyarrow.schema({name: arrow_type(kind) for name, kind in columns.items()})


def arrow_table(rows: list[dict[str, Any]], schema: Any) -> Any:
    """Return rows as a pyarrow table."""
    return _pyarrow().Table.from_pylist(rows, schema=schema)


def _pyarrow() -> Any:
    return optional_module("pyarrow", "parquet", "Parquet files need pyarrow")


def spark_schema(columns: Columns) -> str:
    """Return the schema of columns as Spark writes it: `document long, id string, ...`."""

    def spark_type(name: str | Mapping[str, str]) -> str:
        if isinstance(name, str):
            return name
        return f"array<struct<{', '.join(f'{key}: {kind}' for key, kind in name.items())}>>"

    return ", ".join(f"`{name}` {spark_type(kind)}" for name, kind in columns.items())


def parquet_files(name: str, parsed: Iterable[Parsed]) -> dict[str, bytes]:
    """Return a table of documents and one of sentences."""
    # Rows are packed together, so that a shard of short documents needs little memory.
    documents, sentences = _Table(DOCUMENTS, 1000), _Table(SENTENCES, 2000)
    for number, document, doc in parsed:
        row = {"id": document.id, "file": document.file, "text": doc.text, "meta": document.meta}
        documents.add([{"document": number, **row}])
        sentences.add({"document": number, "id": document.id, **sentence} for sentence in sentence_rows(doc))
    files = {f"documents/{name}.parquet": documents.to_bytes(), f"sentences/{name}.parquet": sentences.to_bytes()}
    _pyarrow().default_memory_pool().release_unused()  # what Arrow keeps for later goes back to the system
    return files


def parquet_table(name: str, columns: Columns, rows: Iterable[dict[str, Any]]) -> dict[str, bytes]:
    """Return the file of a table."""
    table = _Table(columns, 2000)
    table.add(rows)
    return {f"{name}.parquet": table.to_bytes()}


def json_lines_table(name: str, columns: Columns, rows: Iterable[dict[str, Any]]) -> dict[str, bytes]:
    """Return the file of a table, an object a row."""
    return {f"{name}.jsonl": "".join(srsly.json_dumps(row) + "\n" for row in rows).encode()}


def json_lines_files(name: str, parsed: Iterable[Parsed]) -> dict[str, bytes]:
    """Return a file with an object for each document, with its sentences."""
    lines = []
    for number, document, doc in parsed:
        before = srsly.json_dumps({"document": number, "id": document.id, "file": document.file, "text": doc.text})
        behind = srsly.json_dumps({"sentences": list(sentence_rows(doc))})
        # `meta` is JSON already, whose numbers have all their digits.
        lines.append(f'{before[:-1]},"meta":{document.meta},{behind[1:]}\n'.encode())
    return {f"documents/{name}.jsonl": b"".join(lines)}


def bracket_files(name: str, parsed: Iterable[Parsed]) -> dict[str, bytes]:
    """Return a bracket file with one tree per line; a comment before the trees of a document has its id.

    There is no file without trees, which commands that read brackets would take for a mistake.
    """
    from spacy_incparse.documents.storage import anchored_trees

    lines, n_trees = [], 0
    for number, document, doc in parsed:
        trees = [str(found.tree.with_empties()) for found in anchored_trees(doc)]
        lines += [f"# document {number} {' '.join(document.id.split())}", *trees]
        n_trees += len(trees)
    return {f"trees/{name}.mrg": "".join(f"{line}\n" for line in lines).encode()} if n_trees else {}


def docbin_files(name: str, parsed: Iterable[Parsed]) -> dict[str, bytes]:
    """Return a DocBin with user data: the trees, and "id", "file" and "meta" of the document."""
    from spacy.tokens import DocBin

    docs = DocBin(store_user_data=True)
    for _, document, doc in parsed:
        doc.user_data |= {"id": document.id, "file": document.file, "meta": document.meta}
        docs.add(doc)
    return {f"docs/{name}.spacy": docs.to_bytes()}


WRITERS: dict[str, Writer] = {
    writer.name: writer
    for writer in (
        Writer(
            "parquet",
            parquet_files,
            lambda: optional_module("pyarrow.parquet", "parquet", "--format parquet, the default, needs pyarrow"),
            table=parquet_table,
        ),
        Writer("jsonl", json_lines_files, table=json_lines_table),
        Writer("brackets", bracket_files),
        Writer("docbin", docbin_files, check_doc=lambda doc: srsly.msgpack_dumps(doc.user_data)),
    )
}


def find_writer(name: str) -> Writer:
    """Return a writer by name. Raises IncparseError if there is none, or what it needs is not installed."""
    if name not in WRITERS:
        raise IncparseError(f"no output format is called {name!r}; there are {', '.join(WRITERS)}")
    WRITERS[name].check()
    return WRITERS[name]
