"""A pipeline as a callable, for people who have a pipeline of Ray Data or Spark already: see docs/annotate.md."""

from __future__ import annotations

import logging
import re
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spacy_incparse.corpora.annotate import RunWorkers
from spacy_incparse.corpora.records import Document, Shard, ShardRecord
from spacy_incparse.corpora.writers import SENTENCES, Columns, arrow_schema, arrow_table, spark_schema
from spacy_incparse.documents.rows import sentence_rows
from spacy_incparse.errors import IncparseError, optional_module
from spacy_incparse.workers import MOST_DEATHS, Answers, OnKilled, SentError, TaskPool, WorkerDiedError, run_in_pool

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

        import ray
        from spacy_incparse.ray import Annotate

        sentences = ray.data.read_parquet("texts/").map_batches(
            Annotate, fn_constructor_kwargs={"model": "en"}, batch_format="pyarrow", batch_size=256, concurrency=4
        )
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


_MOST_DEATHS = 6  # of actors at the same shard: on a shared cluster, they may have other reasons than the shard
_NETWORK_ADDRESS = re.compile(r"(?:ray://)?\[?(.+?)\]?:(\d+)")
_PATIENCE = 10  # seconds for a machine to answer: Ray itself tries for minutes
_RAY = ("ray", "ray", "--ray needs Ray")
_QUIET = {"log_to_driver": False, "logging_level": logging.ERROR}


def run_with_ray(address: str, n_workers: int | None) -> RunWorkers:
    """Return what has the actors of a Ray cluster annotate shards.

    This process reads, actors annotate. A shard is read when an actor is free for it. An actor that dies is replaced,
    and its shard is done again. All machines see the same folders. Ray Data is not used here, because its executor
    takes longer to start than Ray itself.

    address: of the cluster, or "local". n_workers: the number of actors; None: one for each processor of the cluster.
    Raises IncparseError if Ray is not installed; what is returned does, if there is no cluster.
    """
    optional_module(*_RAY)  # before anything is written

    def run_workers(
        prepare: Callable[[], Any], shards: Iterator[Shard], *, on_killed: OnKilled | None = None
    ) -> Iterator[tuple[Shard, ShardRecord]]:
        with cluster(address, n_workers) as ray:
            actors = n_workers or int(ray.cluster_resources().get("CPU", 1))
            yield from run_in_pool(RayPool(ray, prepare, actors, _MOST_DEATHS), shards, on_killed=on_killed)

    return run_workers


@contextmanager
def cluster(address: str, n_workers: int | None) -> Iterator[Any]:
    """Connect to a cluster, unless this process already has, and give Ray; what was connected here ends afterwards.

    address: of the cluster, or "local", which starts one on this machine. n_workers: its processors; None: those of the
    machine. Raises IncparseError if Ray is not installed, or there is no cluster.
    """
    ray = optional_module(*_RAY)
    if ray.is_initialized():
        yield ray
        return
    place = _NETWORK_ADDRESS.fullmatch(address)
    if place is not None:  # of a machine and a port, where a program has to listen
        try:
            socket.create_connection((place[1], int(place[2])), _PATIENCE).close()
        except (OSError, OverflowError, UnicodeError) as error:
            reason = (isinstance(error, OSError) and error.strerror) or error
            raise IncparseError(f"no Ray cluster at {address!r}: {reason}") from None
    try:
        try:
            if address == "local":
                ray.init(num_cpus=n_workers, include_dashboard=False, **_QUIET)
            else:
                ray.init(address, **_QUIET)
        except Exception as error:  # Ray has no class for them: a cluster that is slow to start is an Exception
            raise IncparseError(f"no Ray cluster at {address!r}: {str(error).splitlines()[0]}") from None
        yield ray
    finally:
        ray.shutdown()


class RayPool(TaskPool[Any, Any]):
    """A pool whose workers are actors, with a processor each, on as many machines as possible.

    Actors are started when there are tasks for them. Where the cluster lacks processors, tasks wait for those that it
    has, and for those that it may get.
    """

    def __init__(self, ray: Any, prepare: Callable[[], Any], n_workers: int, most_deaths: int = MOST_DEATHS):
        super().__init__(n_workers, most_deaths)
        self._ray, self._prepare = ray, ray.put(prepare)
        self._actors = ray.remote(num_cpus=1, max_restarts=0, scheduling_strategy="SPREAD")(Answers)

    def _start(self) -> tuple[Any, Any]:
        actor = self._actors.remote(self._prepare)
        return actor, actor.prepare.remote()

    def _send(self, worker: Any, task: Any) -> Any:
        return worker.answer.remote(task)

    def _wait(self, tickets: list[Any]) -> Iterable[Any]:
        return self._ray.wait(tickets)[0]

    def _answer(self, worker: Any, ticket: Any) -> tuple[Any, SentError | None]:
        try:
            return self._ray.get(ticket)
        except self._ray.exceptions.RayError as error:
            # `Answers` returns the errors of its own tasks, so that this one comes from an import.
            if isinstance(error, self._ray.exceptions.RayTaskError) or "creation task" in str(error):
                what = (
                    f"an actor cannot begin: {_in_short(error)}: all machines need the same version of spacy-incparse"
                )
                return None, SentError.of(IncparseError(what))
            raise WorkerDiedError(f'with the message "{_in_short(error)}"') from None

    def _end(self, worker: Any) -> None:
        self._ray.kill(worker)


def _in_short(error: Exception) -> str:
    """Return the last line of what Ray tells about the death of an actor, without the possible causes."""
    lines = [line.strip() for line in str(error).splitlines()]
    last = next((line for line in reversed(lines) if line), type(error).__name__)
    return last.partition(" Some common causes")[0]
