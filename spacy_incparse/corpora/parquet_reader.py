"""Read documents from Parquet files, row group by row group."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import srsly

from spacy_incparse.corpora.input_files import InputFile
from spacy_incparse.corpora.reader_settings import Fields
from spacy_incparse.corpora.records import Document, Item, Unreadable
from spacy_incparse.errors import IncparseError
from spacy_incparse.extras import parquet_module

_ROWS = 1000  # at a time


def read_parquet(file: InputFile, fields: Fields) -> Iterator[Item]:
    """Yield each row as a document; columns of texts, numbers and truth values are kept as its other fields.

    Ids are those of the column for ids, or else FILE:ROW. Raises IncparseError if there is no column for the text.
    """
    parquet = parquet_module()
    try:
        table = parquet.ParquetFile(file.path)
    except ValueError as error:  # pyarrow's own are ValueErrors
        yield Unreadable(file.name, file.name, f"the file is not Parquet, or is damaged: {error}")
        return
    names = _plain_columns(table.schema_arrow)
    if fields.text not in names:
        raise IncparseError(
            f"{file.name}: there is no column {fields.text!r} with texts (it has {', '.join(names) or 'no plain ones'}"
            f"): name the right one with --text-field"
        )
    number, n_rows = 0, max(table.metadata.num_rows, 1)
    for batch in table.iter_batches(batch_size=_ROWS, columns=names):
        for row in batch.to_pylist():
            number += 1
            file.position = file.size * number // n_rows
            yield _document(row, f"{file.name}:{number}", file.name, fields)


def _plain_columns(schema: Any) -> list[str]:
    import pyarrow

    tests = (
        pyarrow.types.is_string, pyarrow.types.is_large_string, pyarrow.types.is_integer, pyarrow.types.is_floating,
        pyarrow.types.is_boolean,
    )  # fmt: skip
    return [column.name for column in schema if any(test(column.type) for test in tests)]


def _document(row: dict[str, Any], name: str, file: str, fields: Fields) -> Item:
    text, own_id = row.pop(fields.text), row.pop(fields.id, None)
    name = name if own_id is None else str(own_id)
    if not isinstance(text, str):
        return Unreadable(name, file, f"no text in the column {fields.text!r}: it is {text!r:.40}")
    return Document(name, file, text, meta=srsly.json_dumps(row))
