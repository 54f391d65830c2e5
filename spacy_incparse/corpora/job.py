"""What an annotated corpus is made from, and how it is cut into shards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from spacy_incparse.corpora.inputs import Fields, InputFile
from spacy_incparse.corpora.readers import check_readers, find_reader, read_files
from spacy_incparse.corpora.records import SHARD_CHARS, Shard, file_hash, folder_hash, split
from spacy_incparse.corpora.writers import find_writer
from spacy_incparse.data import find_pipeline
from spacy_incparse.errors import IncparseError

FORMAT = "spacy-incparse annotation 1"


@dataclass(frozen=True)
class Job:
    """What an output folder is made from; can be pickled, and names everything that its bytes depend on."""

    files: tuple[Path, ...]
    output: Path
    model: str = "en"
    reader: str = "auto"
    writer: str = "parquet"
    fields: Fields = Fields()  # noqa: RUF009  immutable
    code: Path | None = None
    shard_chars: int = SHARD_CHARS

    def check(self) -> None:
        """Raise IncparseError if a format, the pipeline or the code does not exist, or a library is not installed."""
        check_readers(self.files, find_reader(self.reader))
        find_writer(self.writer)
        find_pipeline(self.model)
        if self.code is not None and not self.code.is_file():
            raise IncparseError(f"{self.code}: no such file")

    def manifest(self) -> dict[str, Any]:
        """Return hashes of input and model, settings and versions. Raises ModelError if there is no such pipeline."""
        packages = ["spacy-incparse", "spacy", *(["pyarrow"] if self.writer == "parquet" else [])]
        return {
            "format": FORMAT,
            "input": [
                {"file": file.name, "bytes": file.size, "sha256": file_hash(file.path)}
                for file in map(InputFile, self.files)
            ],
            "input_format": self.reader,
            "text_field": self.fields.text,
            "id_field": self.fields.id,
            "model": {"name": self.model, "sha256": folder_hash(find_pipeline(self.model))},
            "code": None if self.code is None else {"file": self.code.name, "sha256": file_hash(self.code)},
            "output_format": self.writer,
            "shard_chars": self.shard_chars,
            "versions": {name: version(name) for name in packages},
        }

    def shards(self) -> Iterator[Shard]:
        """Yield the shards of the corpus; they depend on nothing but the input and the settings."""
        items = read_files(list(self.files), find_reader(self.reader), self.fields)
        return split(items, self.shard_chars)
