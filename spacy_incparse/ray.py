"""A pipeline as a callable, for people who have a pipeline of Ray Data or Spark already: see docs/annotate.md.

import ray
from spacy_incparse.ray import Annotate

sentences = ray.data.read_parquet("texts/").map_batches(
    Annotate, fn_constructor_kwargs={"model": "en"}, batch_format="pyarrow", batch_size=256, concurrency=4
)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spacy_incparse.corpora.parquet import SENTENCES, Columns, arrow_schema, arrow_table, spark_schema
from spacy_incparse.corpora.records import Document
from spacy_incparse.documents.rows import sentence_rows
from spacy_incparse.errors import IncparseError

if TYPE_CHECKING:
    from spacy_incparse.corpora.worker import Annotator

__all__ = ["COLUMNS", "SPARK_SCHEMA", "Annotate"]

COLUMNS: Columns = {name: kind for name, kind in SENTENCES.items() if name != "document"} | {"error": "string"}
SPARK_SCHEMA = spark_schema(COLUMNS)


class Annotate:
    """A function from batches of documents to batches of sentences with trees, one row for each sentence.

    model: the name of an embedded or installed pipeline, or a folder; it is loaded once in each process, when the first
    batch comes. text, id: the columns with the texts and the ids of the documents. code: a Python file with components
    of the pipeline.

    A document that fails has one row, with its `id` and the `error`, and is null elsewhere.
    """

    def __init__(self, model: str = "en", *, text: str = "text", id: str = "id", code: str | None = None):
        self._model, self._text, self._id, self._code = model, text, id, code

    def __call__(self, batch: Any) -> Any:
        """Return the sentences of a pyarrow Table, a pandas DataFrame or a dict of arrays: a Table, or a DataFrame.

        Raises IncparseError if the batch lacks a column.
        """
        names = list(getattr(batch, "column_names", batch))
        for name in (self._text, self._id):
            if name not in names:
                raise IncparseError(f"the batch has no column {name!r} (it has {', '.join(map(str, names))})")
        table = arrow_table(self._rows(list(batch[self._text]), list(batch[self._id])), arrow_schema(COLUMNS))
        return table.to_pandas(integer_object_nulls=True) if hasattr(batch, "to_records") else table

    def frames(self, frames: Iterable[Any]) -> Iterator[Any]:
        """Yield the sentences of pandas DataFrames, for Spark: `df.mapInPandas(Annotate().frames, SPARK_SCHEMA)`."""
        return map(self, frames)

    def _rows(self, texts: Sequence[Any], ids: Sequence[Any]) -> list[dict[str, Any]]:
        annotator = _annotator(self._model, self._code)
        names = [str(getattr(own, "as_py", lambda own=own: own)()) for own in ids]
        given = [getattr(text, "as_py", lambda text=text: text)() for text in texts]
        rows: list[dict[str, Any]] = []
        documents = []
        for name, text in zip(names, given, strict=True):
            if isinstance(text, str):
                documents.append(Document(name, "", str(text)))  # an element of an array is not quite a str
            else:
                rows.append(_failed(name, f"no text in the column {self._text!r}"))
        with annotator.zone(documents):
            for document, outcome in annotator.annotate(documents):
                if isinstance(outcome, str):
                    rows.append(_failed(document.id, outcome))
                else:
                    rows += ({"id": document.id, **row, "error": None} for row in sentence_rows(outcome))
        return rows


def _failed(name: str, reason: str) -> dict[str, Any]:
    return {**dict.fromkeys(COLUMNS), "id": name, "error": reason}


@lru_cache(maxsize=1)
def _annotator(model: str, code: str | None) -> Annotator:
    """Return the pipeline, which this process loads once: Spark calls a function anew for each partition."""
    from spacy_incparse.corpora.worker import Annotator

    return Annotator(model, None if code is None else Path(code))
