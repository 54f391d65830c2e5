"""Annotate a corpus: read it, split it into shards, have them annotated, and keep account of what is finished."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

import srsly

from spacy_incparse.corpora.annotator import Annotator
from spacy_incparse.corpora.fingerprints import file_hash, folder_hash
from spacy_incparse.corpora.output_folder import FAILED, OutputFolder
from spacy_incparse.corpora.reader_settings import Fields
from spacy_incparse.corpora.readers import find_reader, read_files
from spacy_incparse.corpora.records import Counts, Document, Shard, ShardRecord, Unreadable, split
from spacy_incparse.corpora.writers import Parsed, find_writer
from spacy_incparse.data import find_pipeline
from spacy_incparse.documents.tree_storage import anchored_trees
from spacy_incparse.errors import IncparseError
from spacy_incparse.workers import run_in_workers

FORMAT = "spacy-incparse annotation 1"
SHARD_CHARS = 1_000_000  # about 180,000 words of English: half a minute's work, and a few megabytes of memory


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

    def manifest(self) -> dict[str, Any]:
        """Return hashes of input and model, settings and versions. Raises ModelError if there is no such pipeline."""
        packages = ["spacy-incparse", "spacy", *(["pyarrow"] if self.writer == "parquet" else [])]
        return {
            "format": FORMAT,
            "input": [
                {"file": path.as_posix(), "bytes": path.stat().st_size, "sha256": file_hash(path)}
                for path in self.files
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


class ShardWorker:
    """Annotates the shards of a job and writes their files; in a worker process, loads the pipeline once."""

    def __init__(self, job: Job):
        self._writer, self._folder = find_writer(job.writer), OutputFolder(job.output)
        self._annotator = Annotator(job.model, job.code)

    def __call__(self, shard: Shard) -> ShardRecord:
        """Write the files of a shard, and then its record."""
        counts, failed = Counts(), list[dict[str, Any]]()
        with self._annotator.zone():
            files = self._writer.files(shard.name, self._parsed(shard, counts, failed))
        if failed:
            files[f"{FAILED}/{shard.name}.jsonl"] = "".join(srsly.json_dumps(row) + "\n" for row in failed).encode()
        return self._folder.write_shard(shard.number, counts, files)

    def _parsed(self, shard: Shard, counts: Counts, failed: list[dict[str, Any]]) -> Iterator[Parsed]:
        """Yield the parsed documents of a shard, count them, and put the others aside."""
        numbered = dict(enumerate(shard.items, start=shard.first))
        documents = (item for item in numbered.values() if isinstance(item, Document))
        outcomes = self._annotator.annotate(documents)
        for number, item in numbered.items():
            if isinstance(item, Unreadable):
                reason: object = item.reason
            else:
                document, reason = next(outcomes)
                assert document is item
                if not isinstance(reason, str):
                    _count(reason, counts)
                    yield Parsed(number, item, reason)
                    continue
            counts.failed += 1
            failed.append({"document": number, "id": item.id, "file": item.file, "reason": reason})


def _count(doc: Any, counts: Counts) -> None:
    trees = anchored_trees(doc)
    counts.documents += 1
    counts.sentences += len(trees)
    counts.words += sum(len(found.tree.words) for found in trees)
    counts.flat += sum(found.source == "flat" for found in trees)


class Progress(Protocol):
    """What is told about each shard."""

    def __call__(self, n_bytes: int, record: ShardRecord, *, is_new: bool) -> None:
        """Note a shard with these bytes of the input; not `is_new`: an earlier run has finished it."""


# Yields each shard of a job that is not finished with its record, and each other one with the record that it has.
Engine = Callable[[Job], Iterator[tuple[int, ShardRecord, bool]]]


def in_processes(n_process: int) -> Engine:
    """Return an engine that annotates shards on this machine."""

    def run(job: Job) -> Iterator[tuple[int, ShardRecord, bool]]:
        found: list[tuple[int, ShardRecord, bool]] = []  # finished before, and not yet reported
        pending = unfinished(job, lambda shard, record: found.append((shard.n_bytes, record, False)))
        for shard, record in run_in_workers(partial(ShardWorker, job), pending, n_process):
            yield from found
            found.clear()
            yield shard.n_bytes, record, True
        yield from found

    return run


def unfinished(job: Job, on_finished: Callable[[Shard, ShardRecord], object]) -> Iterator[Shard]:
    """Yield the shards that are not finished; call `on_finished` with the others and their records."""
    folder = OutputFolder(job.output)
    for shard in job.shards():
        record = folder.finished(shard.number)
        if record is None:
            yield shard
        else:
            on_finished(shard, record)


def annotate(job: Job, engine: Engine, progress: Progress, *, overwrite: bool = False) -> Counts:
    """Annotate a corpus, and return what it consists of.

    Killed at any moment and called again with the same job, it does only what is not finished, and the files are the
    same as after one run, whatever the engine. Raises IncparseError as `OutputFolder.begin` does, and if the corpus is
    empty.
    """
    find_writer(job.writer)
    folder = OutputFolder(job.output)
    folder.begin(job.manifest(), overwrite=overwrite)
    totals, n_shards = Counts(), 0
    for n_bytes, record, is_new in engine(job):
        n_shards += 1
        totals.add(record.counts)
        progress(n_bytes, record, is_new=is_new)
    if not n_shards:
        raise IncparseError("the input has no documents")
    folder.write_totals(n_shards, totals)
    return totals


def input_bytes(files: Iterable[Path]) -> int:
    """Return the size of all input files."""
    return sum(path.stat().st_size for path in files)
