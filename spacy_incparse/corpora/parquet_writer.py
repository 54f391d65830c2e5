"""The Parquet files of a shard, and the schemas of their tables; docs/annotate.md describes the columns."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from typing import Any

from spacy.tokens import Doc

from spacy_incparse.corpora.records import Document
from spacy_incparse.documents.sentence_rows import sentence_rows
from spacy_incparse.extras import optional_module, parquet_module

_GROUP_DOCUMENTS = 1000  # rows are packed together, so that a shard of short documents needs little memory
_GROUP_SENTENCES = 2000
_TYPES = {"string": "string", "int": "int32", "long": "int64", "double": "float64"}

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
    "spans": {"label": "string", "start": "int", "end": "int", "parent": "int"},
}


class ParquetTables:
    """The tables of the documents and sentences of a shard, filled document by document."""

    def __init__(self) -> None:
        self._documents = _Table(DOCUMENTS, _GROUP_DOCUMENTS)
        self._sentences = _Table(SENTENCES, _GROUP_SENTENCES)

    def add(self, number: int, document: Document, doc: Doc) -> None:
        """Add a document with its sentences."""
        row = {"id": document.id, "file": document.file, "text": doc.text, "meta": document.meta}
        self._documents.add([{"document": number, **row}])
        self._sentences.add({"document": number, "id": document.id, **sentence} for sentence in sentence_rows(doc))

    def to_bytes(self) -> tuple[bytes, bytes]:
        """Return both files. What Arrow keeps for later, of the memory that they needed, goes back to the system."""
        files = self._documents.to_bytes(), self._sentences.to_bytes()
        _pyarrow().default_memory_pool().release_unused()
        return files


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

    def arrow_type(name: str | Mapping[str, str]) -> Any:
        if isinstance(name, str):
            return getattr(pyarrow, _TYPES[name])()
        return pyarrow.list_(pyarrow.struct({key: getattr(pyarrow, _TYPES[kind])() for key, kind in name.items()}))

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
