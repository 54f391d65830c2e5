"""Annotate the shards of a corpus with Ray Data: one task reads, stateful actors annotate, on one machine or many.

The rows of the dataset are shards, so that Ray's back-pressure holds for them: the task that reads waits while the
actors are busy. An actor that dies is replaced, and its shard is done again. All machines see the same folders.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from typing import Any

import srsly

from spacy_incparse.corpora.annotation import Engine, Job, ShardWorker
from spacy_incparse.corpora.output_folder import OutputFolder
from spacy_incparse.corpora.records import Shard, ShardRecord
from spacy_incparse.errors import IncparseError
from spacy_incparse.extras import optional_module
from spacy_incparse.ray_workers import connect

_AHEAD = 2  # shards for each actor that are read before it wants them
_RETRIES = 5  # of a shard whose actor dies: on a shared cluster, that may be for other reasons than the shard


def with_ray(address: str, n_workers: int | None) -> Engine:
    """Return an engine that annotates shards on a Ray cluster.

    address: of the cluster, or "local". n_workers: the number of actors; None: one for each processor of the cluster.
    """

    def run(job: Job) -> Iterator[tuple[int, ShardRecord, bool]]:
        ray = connect(address, n_workers)
        data = optional_module("ray.data", "ray", "--ray needs Ray Data")
        actors = n_workers or int(ray.cluster_resources().get("CPU", 1))
        try:
            yield from _records(data, job, actors)
        except ray.exceptions.RayError as error:
            raise _own(error) from error

    return run


def _records(data: Any, job: Job, actors: int) -> Iterator[tuple[int, ShardRecord, bool]]:
    context = data.DataContext.get_current()
    context.enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", message="`ray_remote_args` is deprecated")  # Ray's own use of it
    context.target_max_block_size = 1  # byte: each row is a block, so that each shard is a task
    shards = data.read_datasource(_shard_source(data, job), override_num_blocks=1, num_cpus=0)  # beside the actors
    records = shards.map_batches(
        _RayWorker,
        fn_constructor_args=(job,),
        batch_size=1,
        batch_format="pyarrow",
        compute=data.ActorPoolStrategy(size=actors, max_tasks_in_flight_per_actor=_AHEAD),
        max_restarts=-1,
        max_task_retries=_RETRIES,
    )
    for row in records.iter_rows():
        yield row["n_bytes"], ShardRecord.from_dict(srsly.msgpack_loads(row["found"])), row["is_new"]


class _RayWorker:
    """The actor: takes a table with one shard, and returns one with its record."""

    def __init__(self, job: Job):
        self._job = job
        self._worker: ShardWorker | None = None

    def __call__(self, table: Any) -> Any:
        (row,) = table.to_pylist()
        if not row["is_new"]:
            return table
        self._worker = self._worker or ShardWorker(self._job)
        return _row(row["n_bytes"], self._worker(Shard.from_dict(srsly.msgpack_loads(row["found"]))), is_new=True)


def _row(n_bytes: int, found: Shard | ShardRecord, *, is_new: bool) -> Any:
    """Return a table with one row: a shard that is not finished (`is_new`), or the record of one."""
    pyarrow = optional_module("pyarrow", "ray", "--ray needs pyarrow")
    return pyarrow.table({"n_bytes": [n_bytes], "found": [srsly.msgpack_dumps(found.to_dict())], "is_new": [is_new]})


def _rows(job: Job) -> Iterator[Any]:
    """Yield a row for each shard. If the task is done again, the shards have the same places."""
    folder = OutputFolder(job.output)
    for shard in job.shards():
        record = folder.finished(shard.number)
        yield _row(shard.n_bytes, record or shard, is_new=record is None)


def _shard_source(data: Any, job: Job) -> Any:
    """Return a source of Ray Data with one task, which yields a row for each shard."""

    class Shards(data.Datasource):
        def get_read_tasks(self, parallelism: int, *_: Any, **__: Any) -> list[Any]:
            metadata = data.block.BlockMetadata(num_rows=None, size_bytes=None, exec_stats=None, input_files=None)
            return [data.ReadTask(lambda: _rows(job), metadata)]

        def estimate_inmemory_data_size(self) -> int | None:
            return None

    return Shards()


def _own(error: BaseException) -> BaseException:
    """Return the error of ours that Ray has wrapped, if there is one."""
    inner: BaseException | None = error
    while inner is not None:
        if isinstance(inner, IncparseError):
            return inner
        inner = getattr(inner, "cause", None) or inner.__cause__
    return error
