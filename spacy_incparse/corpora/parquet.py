"""The Parquet files of a shard, and the schemas of their tables; docs/annotate.md describes the columns."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from spacy_incparse.corpora.inputs import Fields, InputFile, meta_json
from spacy_incparse.corpora.records import Document, Item, Unreadable
from spacy_incparse.documents.rows import sentence_rows
from spacy_incparse.errors import IncparseError, optional_module, parquet_module

if TYPE_CHECKING:
    from spacy.tokens import Doc

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


_ROWS = 1000  # at a time


def read_parquet(file: InputFile, fields: Fields) -> Iterator[Item]:
    """Yield each row as a document; columns of texts, numbers and truth values are kept as its other fields.

    Ids are those of the column for ids, of any type, or else FILE:ROW. A row with texts that are not UTF-8 is
    unreadable. Raises IncparseError if there is no column for the text.
    """
    parquet = parquet_module()
    try:
        table = parquet.ParquetFile(file.path)
    except ValueError as error:  # pyarrow's own are ValueErrors
        yield Unreadable(file.name, file.name, f"the file is not Parquet, or is damaged: {error}")
        return
    schema = table.schema_arrow
    import pyarrow

    tests = (
        pyarrow.types.is_string, pyarrow.types.is_large_string, pyarrow.types.is_integer, pyarrow.types.is_floating,
        pyarrow.types.is_boolean,
    )  # fmt: skip

    kinds = {
        column.name: column.type.value_type if pyarrow.types.is_dictionary(column.type) else column.type
        for column in schema
    }
    names = [name for name, kind in kinds.items() if any(test(kind) for test in tests)]
    if fields.text not in names:
        raise IncparseError(
            f"{file.name}: there is no column {fields.text!r} with texts (it has {', '.join(names) or 'no plain ones'}"
            f"): name the right one with --text-field"
        )
    if fields.id in schema.names and fields.id not in names:
        names.append(fields.id)
    number, n_rows = 0, max(table.metadata.num_rows, 1)
    for batch in _batches(table, names):
        if isinstance(batch, str):
            yield Unreadable(file.name, file.name, f"the rest of the file cannot be read, it is damaged: {batch}")
            return
        for row in _rows(batch):
            number += 1
            file.position = file.size * number // n_rows
            yield _document(row, f"{file.name}:{number}", file.name, fields)


def _batches(table: Any, names: list[str]) -> Iterator[Any]:
    """Yield the batches of a table, or, last, why one cannot be read."""
    batches = table.iter_batches(batch_size=_ROWS, columns=names)
    while True:
        try:
            batch = next(batches, None)
        except ValueError as error:  # pyarrow's own are ValueErrors
            yield f"{error}"
            return
        if batch is None:
            return
        yield batch


def _rows(batch: Any) -> Iterator[dict[str, Any] | str]:
    """Yield the rows of a batch, or why one cannot be read."""
    try:
        yield from batch.to_pylist()
    except UnicodeDecodeError:
        for number in range(batch.num_rows):
            try:
                yield from batch.slice(number, 1).to_pylist()
            except UnicodeDecodeError as error:
                yield f"a text is not UTF-8: {error}"


def _document(row: dict[str, Any] | str, name: str, file: str, fields: Fields) -> Item:
    if isinstance(row, str):
        return Unreadable(name, file, row)
    text, own_id = row.pop(fields.text), row.pop(fields.id, None)
    if isinstance(own_id, bytes):
        own_id = own_id.decode("utf8", "backslashreplace")
    name = name if own_id is None else str(own_id)
    if not isinstance(text, str):
        return Unreadable(name, file, f"no text in the column {fields.text!r}: it is {text!r:.40}")
    return Document(name, file, text, meta=meta_json(row))
