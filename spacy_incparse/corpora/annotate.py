"""Annotate a corpus: read it, split it into shards, have them annotated, and keep account of what is finished."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

import srsly

from spacy_incparse.corpora.readers import Fields, InputFile, find_reader, read_files, reader_of
from spacy_incparse.corpora.records import (
    FAILED,
    SHARD_CHARS,
    TOTALS,
    Counts,
    Document,
    OutputFolder,
    Shard,
    ShardRecord,
    Unreadable,
    file_hash,
    folder_hash,
    split,
)  # fmt: skip
from spacy_incparse.corpora.writers import find_writer
from spacy_incparse.data import find_pipeline
from spacy_incparse.errors import IncparseError
from spacy_incparse.tokens import penn_spelled
from spacy_incparse.workers import OnKilled

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
    ptb: bool = False
    complexity: bool = False  # write a table of measures, too
    relations: bool = False  # and one of grammatical relations

    def check(self) -> None:
        """Raise IncparseError if a format, the pipeline or the code does not exist, or a library is not installed."""
        for reader in {reader_of(path, find_reader(self.reader)) for path in self.files}:
            reader.check()
        if find_writer(self.writer).table is None and self.relations:
            raise IncparseError(f"--relations: --format {self.writer} has no tables; choose parquet or jsonl")
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
            "separator": self.fields.separator,
            "model": {"name": self.model, "sha256": folder_hash(find_pipeline(self.model))},
            "code": None if self.code is None else {"file": self.code.name, "sha256": file_hash(self.code)},
            "output_format": self.writer,
            "shard_chars": self.shard_chars,
            "ptb": self.ptb,
            **{
                name: True for name in ("complexity", "relations") if getattr(self, name)
            },  # not a reason to begin older folders anew
            "versions": {name: version(name) for name in packages},
        }


# Has workers annotate shards, as `run_in_workers` does: prepare, shards, on_killed -> shards with their records.
RunWorkers = Callable[..., Iterator[tuple[Shard, ShardRecord]]]


def annotate(job: Job, run_workers: RunWorkers, progress: Callable[..., object], *, overwrite: bool = False) -> Counts:
    """Annotate a corpus, and return what it consists of.

    progress: called with the bytes of each shard in the input, its record, and `is_new`; False: an earlier run has
    finished it. Killed at any moment and called again with the same job, it does only what is not finished, and the
    files are the same as after one run, whatever the workers. Raises IncparseError if another run is writing to the
    folder, as `OutputFolder.begin` does, if the corpus is empty, and if all its documents were put aside.
    """
    job.check()
    folder = OutputFolder(job.output)
    with folder.claimed():
        is_new = folder.begin(job.manifest(), overwrite=overwrite)
        try:
            totals, n_shards = Counts(), 0
            for n_bytes, record, is_own in _records(job, run_workers):
                n_shards += 1
                totals.add(record.counts)
                progress(n_bytes, record, is_new=is_own)
            if not n_shards:
                raise IncparseError("the input has no documents")
            if not totals.documents:
                failed: Any = next(iter(srsly.read_jsonl(min((folder.path / FAILED).glob("*.jsonl")))))
                raise IncparseError(
                    f"no document could be annotated; the first, {failed['id']}: {' '.join(failed['reason'].split())}. "
                    f"All of them ({totals.failed:,}) are in {folder.path / FAILED} with the reasons: mend the cause, "
                    f"and begin anew in another folder or with --overwrite"
                )
            folder.write_totals(n_shards, totals)
            return totals
        except Exception:
            if is_new:  # so that the same folder can be named when the mistake is mended
                folder.withdraw()
            raise


def _records(job: Job, run_workers: RunWorkers) -> Iterator[tuple[int, ShardRecord, bool]]:
    """Have the shards annotated that are not finished; yield bytes and record of each, and whether it is new."""
    found: list[tuple[int, ShardRecord, bool]] = []  # finished before, and not yet reported
    given_up = GivenUp()

    def on_finished(shard: Shard, record: ShardRecord) -> None:
        given_up.n_finished += 1
        found.append((shard.n_bytes, record, False))

    def try_out(shards: Iterator[Shard], on_killed: OnKilled) -> None:
        deque(run_workers(partial(_worker, job, "try_out"), shards, on_killed=on_killed), maxlen=0)

    prepare = partial(_worker, job, "__call__")
    for shard, record in run_workers(prepare, unfinished(job, on_finished), on_killed=given_up.note):
        given_up.n_finished += 1
        yield from found
        found.clear()
        yield shard.n_bytes, record, True
    yield from found
    if given_up.shards:
        for shard, record in run_workers(prepare, iter(given_up.without_killers(try_out))):
            yield shard.n_bytes, record, True


def _worker(job: Job, method: str) -> Callable[[Shard], ShardRecord]:
    """Return what annotates shards, in a worker: the process that reads them need not import spaCy."""
    from spacy_incparse.corpora.worker import ShardWorker

    return cast("Callable[[Shard], ShardRecord]", getattr(ShardWorker(job), method))


def unfinished(job: Job, on_finished: Callable[[Shard, ShardRecord], object]) -> Iterator[Shard]:
    """Yield the shards that are not finished; call `on_finished` with the others and their records.

    The shards depend on nothing but the input and the settings. Warns, once, of words in Penn spelling without `ptb`.
    From the first one on, the folder does not say any longer that the corpus is complete.
    """
    folder, odd = OutputFolder(job.output), None
    for shard in split(read_files(job.files, find_reader(job.reader), job.fields), job.shard_chars):
        if not job.ptb and odd is None:
            documents = (item for item in shard.items if isinstance(item, Document))
            odd = penn_spelled(word for document in documents for word in document.words or document.text.split())
            if odd is not None:
                warnings.warn(
                    f"words such as {odd!r} look like the spelling of the Penn Treebank: --ptb reads it", stacklevel=2
                )
        record = folder.finished(shard)
        if record is None:
            (folder.path / TOTALS).unlink(missing_ok=True)
            yield shard
        else:
            on_finished(shard, record)


MOST_SHARDS = 3  # that may be given up before as many are finished: more speak for a fault of the pipeline
REASON = "each worker process that parsed it ended"


@dataclass
class GivenUp:
    """The shards of a corpus that killed all their workers."""

    n_finished: int = 0  # of the other shards, in this run or an earlier one
    shards: list[tuple[Shard, IncparseError]] = field(default_factory=list)

    def note(self, shard: Shard, error: IncparseError) -> None:
        """Note a shard. Raises its error if there are too many of them."""
        self.shards.append((shard, error))
        if len(self.shards) > max(MOST_SHARDS, self.n_finished):
            raise error

    def without_killers(self, try_out: Callable[[Iterator[Shard], OnKilled], None]) -> list[Shard]:
        """Return the shards without the documents that kill workers alone, too, which are put aside with the reason.

        try_out: runs shards, and calls the function with those that kill all their workers. Raises IncparseError if
        these are all documents of the corpus.
        """
        killers = {shard.first for shard, _ in self.shards if len(shard.items) == 1}
        single = [
            Shard(shard.number, number, (item,), 0)
            for shard, _ in self.shards
            if len(shard.items) > 1
            for number, item in enumerate(shard.items, start=shard.first)
        ]
        if single:
            try_out(iter(single), lambda document, _: killers.add(document.first))
        if not self.n_finished and len(killers) == sum(len(shard.items) for shard, _ in self.shards):
            raise self.shards[0][1]
        return [
            replace(
                shard,
                items=tuple(
                    Unreadable(item.id, item.file, REASON) if number in killers else item
                    for number, item in enumerate(shard.items, start=shard.first)
                ),
            )
            for shard, _ in self.shards
        ]
