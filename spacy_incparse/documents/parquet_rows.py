"""Read the sentences of the Parquet files that `annotate` writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from spacy_incparse.errors import IncparseError
from spacy_incparse.extras import parquet_module
from spacy_incparse.files import existing_paths

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
