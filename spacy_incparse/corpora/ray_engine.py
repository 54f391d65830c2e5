"""Annotate the shards of a corpus with Ray: this process reads, actors annotate, on one machine or many.

A shard is read when an actor is free for it. An actor that dies is replaced, and its shard is done again. All machines
see the same folders. Ray Data is not used, because its executor takes longer to start than Ray itself.
"""

from __future__ import annotations

import logging
import re
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from spacy_incparse.corpora.annotate import AnnotateShard, Engine, engine_of
from spacy_incparse.corpora.records import Shard, ShardRecord
from spacy_incparse.errors import IncparseError, optional_module
from spacy_incparse.workers import MOST_DEATHS, Answers, OnKilled, SentError, TaskPool, WorkerDiedError, run_in_pool

_MOST_DEATHS = 6  # of actors at the same shard: on a shared cluster, they may have other reasons than the shard


def with_ray(address: str, n_workers: int | None) -> Engine:
    """Return an engine that annotates shards on a Ray cluster.

    address: of the cluster, or "local". n_workers: the number of actors; None: one for each processor of the cluster.
    Raises IncparseError if Ray is not installed; the engine does, if there is no cluster.
    """
    ray_module()  # before the engine writes anything

    def run_workers(
        prepare: Callable[[], AnnotateShard], shards: Iterator[Shard], *, on_killed: OnKilled | None = None
    ) -> Iterator[tuple[Shard, ShardRecord]]:
        with cluster(address, n_workers) as ray:
            actors = n_workers or int(ray.cluster_resources().get("CPU", 1))
            yield from run_in_pool(RayPool(ray, prepare, actors, _MOST_DEATHS), shards, on_killed=on_killed)

    return engine_of(run_workers)


LOCAL = "local"  # the address that starts Ray on this machine
_CREATION = "creation task"  # in the message about an actor that could not be made
_NETWORK_ADDRESS = re.compile(r"(?:ray://)?\[?(.+?)\]?:(\d+)")
_PATIENCE = 10  # seconds for a machine to answer: Ray itself tries for minutes
_QUIET = {"log_to_driver": False, "logging_level": logging.ERROR}


def ray_module() -> Any:
    """Return Ray. Raises IncparseError, saying what to install, if it is missing."""
    return optional_module("ray", "ray", "--ray needs Ray")


def _check_answers(address: str) -> None:
    """Raise IncparseError if the address is of a machine and a port where no program listens."""
    place = _NETWORK_ADDRESS.fullmatch(address)
    if place is None:
        return
    try:
        socket.create_connection((place[1], int(place[2])), _PATIENCE).close()
    except (OSError, OverflowError, UnicodeError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or error
        raise IncparseError(f"no Ray cluster at {address!r}: {reason}") from None


@contextmanager
def cluster(address: str, n_workers: int | None) -> Iterator[Any]:
    """Connect to a cluster, unless this process already has, and give Ray; what was connected here ends afterwards.

    address: of the cluster, or "local", which starts one on this machine. n_workers: its processors; None: those of the
    machine. Raises IncparseError if Ray is not installed, or there is no cluster.
    """
    ray = ray_module()
    if ray.is_initialized():
        yield ray
        return
    _check_answers(address)
    try:
        try:
            if address == LOCAL:
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
            if isinstance(error, self._ray.exceptions.RayTaskError) or _CREATION in str(error):
                what = f"an actor cannot begin: {_in_short(error)}"
                return None, SentError.of(
                    IncparseError(f"{what}: all machines need the same version of spacy-incparse")
                )
            raise WorkerDiedError(f'with the message "{_in_short(error)}"') from None

    def _end(self, worker: Any) -> None:
        self._ray.kill(worker)


def _in_short(error: Exception) -> str:
    """Return the last line of what Ray tells about the death of an actor, without the possible causes."""
    lines = [line.strip() for line in str(error).splitlines()]
    last = next((line for line in reversed(lines) if line), type(error).__name__)
    return last.partition(" Some common causes")[0]
