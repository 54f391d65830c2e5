"""Annotate a corpus: read it, split it into shards, have them annotated, and keep account of what is finished."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Protocol, TypeAlias

from spacy_incparse.corpora.job import Job
from spacy_incparse.corpora.output import FAILED, OutputFolder
from spacy_incparse.corpora.records import Counts, Shard, ShardRecord, Unreadable
from spacy_incparse.errors import IncparseError
from spacy_incparse.workers import OnKilled, run_in_workers


class Progress(Protocol):
    """What is told about each shard."""

    def __call__(self, n_bytes: int, record: ShardRecord, *, is_new: bool) -> None:
        """Note a shard with these bytes of the input; not `is_new`: an earlier run has finished it."""


# Yields each shard of a job that is not finished with its record, and each other one with the record that it has.
Engine = Callable[[Job], Iterator[tuple[int, ShardRecord, bool]]]
# Annotates a shard. Each worker gets one from a function that it calls once.
AnnotateShard = Callable[[Shard], ShardRecord]


class RunWorkers(Protocol):
    """What has workers annotate shards."""

    def __call__(
        self, prepare: Callable[[], AnnotateShard], shards: Iterator[Shard], /, *, on_killed: OnKilled | None = None
    ) -> Iterator[tuple[Shard, ShardRecord]]:
        """Yield each shard with its record; `on_killed` is as in `run_in_workers`."""
        ...


def in_processes(n_process: int) -> Engine:
    """Return an engine that annotates shards on this machine."""
    return engine_of(partial(run_in_workers, n_process=n_process))


def engine_of(run_workers: RunWorkers) -> Engine:
    """Return an engine whose workers get the shards that are not finished."""

    def run(job: Job) -> Iterator[tuple[int, ShardRecord, bool]]:
        found: list[tuple[int, ShardRecord, bool]] = []  # finished before, and not yet reported
        given_up = GivenUp()

        def on_finished(shard: Shard, record: ShardRecord) -> None:
            given_up.n_finished += 1
            found.append((shard.n_bytes, record, False))

        pending = unfinished(job, on_finished)
        for shard, record in run_workers(partial(_shard_worker, job), pending, on_killed=given_up.note):
            given_up.n_finished += 1
            yield from found
            found.clear()
            yield shard.n_bytes, record, True
        yield from found
        if given_up:
            harmless = given_up.without_killers(partial(_try_out, job, run_workers))
            for shard, record in run_workers(partial(_shard_worker, job), iter(harmless)):
                yield shard.n_bytes, record, True

    return run


def _try_out(job: Job, run_workers: RunWorkers, shards: Iterator[Shard], on_killed: OnKilled) -> None:
    for _ in run_workers(partial(_trial, job), shards, on_killed=on_killed):
        pass


def _shard_worker(job: Job) -> AnnotateShard:
    """Return what annotates shards, in a worker: the process that reads them need not import spaCy."""
    from spacy_incparse.corpora.worker import ShardWorker

    return ShardWorker(job)


def _trial(job: Job) -> AnnotateShard:
    """Return what annotates shards without writing them, in a worker."""
    from spacy_incparse.corpora.worker import ShardWorker

    return ShardWorker(job).try_out


def unfinished(job: Job, on_finished: Callable[[Shard, ShardRecord], object]) -> Iterator[Shard]:
    """Yield the shards that are not finished; call `on_finished` with the others and their records.

    From the first one on, the folder does not say any longer that the corpus is complete.
    """
    folder = OutputFolder(job.output)
    for shard in job.shards():
        record = folder.finished(shard.number)
        if record is None:
            folder.remove_totals()
            yield shard
        else:
            on_finished(shard, record)


def annotate(job: Job, engine: Engine, progress: Progress, *, overwrite: bool = False) -> Counts:
    """Annotate a corpus, and return what it consists of.

    Killed at any moment and called again with the same job, it does only what is not finished, and the files are the
    same as after one run, whatever the engine. Raises IncparseError if another run is writing to the folder, as
    `OutputFolder.begin` does, if the corpus is empty, and if all its documents were put aside.
    """
    job.check()
    folder = OutputFolder(job.output)
    with folder.claimed():
        is_new = folder.begin(job.manifest(), overwrite=overwrite)
        try:
            totals, n_shards = Counts(), 0
            for n_bytes, record, is_new in engine(job):
                n_shards += 1
                totals.add(record.counts)
                progress(n_bytes, record, is_new=is_new)
            if not n_shards:
                raise IncparseError("the input has no documents")
            if not totals.documents:
                raise IncparseError(_all_failed(folder, totals.failed))
            folder.write_totals(n_shards, totals)
            return totals
        except Exception:
            if is_new:  # so that the same folder can be named when the mistake is mended
                folder.withdraw()
            raise


def _all_failed(folder: OutputFolder, n_failed: int) -> str:
    failed = folder.first_failed()
    return (
        f"no document could be annotated; the first, {failed['id']}: {' '.join(failed['reason'].split())}. All of them "
        f"({n_failed:,}) are in {folder.path / FAILED} with the reasons: mend the cause, and begin anew in another "
        f"folder or with --overwrite"
    )


def input_bytes(files: Iterable[Path]) -> int:
    """Return the size of all input files."""
    return sum(path.stat().st_size for path in files)


MOST_SHARDS = 3  # that may be given up before as many are finished: more speak for a fault of the pipeline
REASON = "each worker process that parsed it ended"

# Runs shards, and calls the function with those that kill all their workers.
TryOut: TypeAlias = Callable[[Iterator[Shard], OnKilled], None]


class GivenUp:
    """The shards of a corpus that killed all their workers."""

    def __init__(self) -> None:
        self.n_finished = 0  # of the other shards, in this run or an earlier one
        self._shards: list[tuple[Shard, IncparseError]] = []

    def note(self, shard: Shard, error: IncparseError) -> None:
        """Note a shard. Raises its error if there are too many of them."""
        self._shards.append((shard, error))
        if len(self._shards) > max(MOST_SHARDS, self.n_finished):
            raise error

    def __bool__(self) -> bool:
        return bool(self._shards)

    def without_killers(self, try_out: TryOut) -> Sequence[Shard]:
        """Return the shards without the documents that kill workers alone, too, which are put aside with the reason.

        Raises IncparseError if these are all documents of the corpus.
        """
        killers = {shard.first for shard, _ in self._shards if len(shard.items) == 1}
        several = [shard for shard, _ in self._shards if len(shard.items) > 1]
        if several:
            try_out(_single_documents(several), lambda document, _: killers.add(document.first))
        if not self.n_finished and len(killers) == sum(len(shard.items) for shard, _ in self._shards):
            raise self._shards[0][1]
        return [_put_aside(shard, killers) for shard, _ in self._shards]


def _single_documents(shards: Sequence[Shard]) -> Iterator[Shard]:
    for shard in shards:
        for number, item in enumerate(shard.items, start=shard.first):
            yield Shard(shard.number, number, (item,), 0)


def _put_aside(shard: Shard, killers: set[int]) -> Shard:
    items = (
        Unreadable(item.id, item.file, REASON) if number in killers else item
        for number, item in enumerate(shard.items, start=shard.first)
    )
    return replace(shard, items=tuple(items))
