"""Read documents from Parquet files, row group by row group."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from spacy_incparse.corpora.input_files import InputFile
from spacy_incparse.corpora.reader_settings import Fields, meta_json
from spacy_incparse.corpora.records import Document, Item, Unreadable
from spacy_incparse.errors import IncparseError
from spacy_incparse.extras import parquet_module

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
    names = _plain_columns(schema)
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


def _plain_columns(schema: Any) -> list[str]:
    import pyarrow

    tests = (
        pyarrow.types.is_string, pyarrow.types.is_large_string, pyarrow.types.is_integer, pyarrow.types.is_floating,
        pyarrow.types.is_boolean,
    )  # fmt: skip

    kinds = {
        column.name: column.type.value_type if pyarrow.types.is_dictionary(column.type) else column.type
        for column in schema
    }
    return [name for name, kind in kinds.items() if any(test(kind) for test in tests)]


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
