"""Run many small tasks in a few worker processes that last, each of which prepares itself once.

`training.processes` gives each task a process of its own; here a worker loads a pipeline once and does task after task.
Tasks are taken from their source only when a worker is free, so that a source of any length needs little memory.
"""

from __future__ import annotations

import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from threading import Thread
from typing import Any, Generic, TypeVar, cast

from spacy_incparse.errors import IncparseError

Task = TypeVar("Task")
Result = TypeVar("Result")
Prepare = Callable[[], Callable[[Task], Result]]

MOST_DEATHS = 3  # of workers at the same task
_WAIT = 0.3  # seconds between two calls of `on_wait`
_AHEAD = 4  # tasks for each process that may be done before their turn


def run_in_workers(
    prepare: Prepare[Task, Result], tasks: Iterable[Task], n_process: int, *, most_deaths: int = MOST_DEATHS
) -> Iterator[tuple[Task, Result]]:
    """Yield each task with its result, in the order in which they finish.

    prepare: called once in each worker; returns the function for its tasks. With one process, all runs in this one.

    A worker that is killed is replaced, and its task is done again. Raises IncparseError if a task has killed
    `most_deaths` workers, and whatever error `prepare` or its function raises; the workers are then ended, and also if
    the iterator is closed.
    """
    if n_process == 1:
        function: Callable[[Task], Result] | None = None
        for task in tasks:
            function = function or prepare()
            yield task, function(task)
        return
    pool: WorkerPool[Any, Any] = WorkerPool(prepare, n_process, most_deaths)
    try:
        yield from pool.run(iter(tasks))
    finally:
        pool.close()


def run_in_order(
    prepare: Prepare[Task, Result], tasks: Iterable[Task], n_process: int
) -> Iterator[tuple[Task, Result]]:
    """Yield each task with its result, in the order of the tasks; the rest is as in `run_in_workers`."""
    if n_process == 1:
        yield from run_in_workers(prepare, tasks, 1)
        return
    pool: WorkerPool[Any, Any] = WorkerPool(_Numbered(prepare), n_process, MOST_DEATHS)
    done: dict[int, tuple[Task, Result]] = {}
    try:
        for following, numbered in enumerate(_in_turn(pool, enumerate(tasks), done, _AHEAD * n_process)):
            assert following == numbered[0]
            yield numbered[1]
    finally:
        pool.close()


def _in_turn(
    pool: WorkerPool[Any, Any], tasks: Iterator[tuple[int, Any]], done: dict[int, tuple[Any, Any]], most: int
) -> Iterator[tuple[int, tuple[Any, Any]]]:
    """Yield the results by number; at most `most` of them wait for an earlier one, and no new task begins meanwhile."""
    turn = 0
    for (number, task), result in pool.run(tasks, may_begin=lambda: len(done) < most):
        done[number] = task, result
        while turn in done:
            yield turn, done.pop(turn)
            turn += 1


class _Numbered:
    """A `prepare` whose function takes (number, task)."""

    def __init__(self, prepare: Callable[[], Callable[[Any], Any]]):
        self._prepare = prepare

    def __call__(self) -> Callable[[tuple[int, Any]], Any]:
        function = self._prepare()
        return lambda numbered: function(numbered[1])


class _Worker:
    """A process and the connection to it."""

    def __init__(self, prepare: Callable[[], Any]):
        context = get_context("spawn")  # a fork would copy the threads' locks of whatever has been imported
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(prepare, theirs), daemon=True)
        self.process.start()
        theirs.close()  # so that a worker that is killed ends the connection

    def end(self) -> None:
        self.process.terminate()
        self.process.join()
        self.connection.close()


class WorkerPool(Generic[Task, Result]):
    """The workers, and the tasks that they are doing; they last from one `run` to the next, until `close`."""

    def __init__(self, prepare: Callable[[], Any], n_process: int, most_deaths: int = MOST_DEATHS):
        self._prepare, self._n_process, self._most_deaths = prepare, n_process, most_deaths
        self._idle: list[_Worker] = []
        self._busy: dict[Connection, tuple[_Worker, Any]] = {}
        self._deaths: Counter[int] = Counter()  # by the number of the task

    def run(
        self,
        tasks: Iterator[Task],
        *,
        may_begin: Callable[[], bool] = lambda: True,
        on_wait: Callable[[], object] | None = None,
    ) -> Iterator[Any]:
        """Yield (task, result) as in `run_in_workers`.

        While `may_begin` is false, no new task is taken. on_wait: called a few times a second, and after each task.
        """
        numbered, is_open = enumerate(tasks), True
        timeout = None if on_wait is None else _WAIT
        self._deaths.clear()
        while is_open or self._busy:
            while is_open and len(self._busy) < self._n_process and (may_begin() or not self._busy):
                task = next(numbered, None)
                if task is None:
                    is_open = False
                else:
                    self._begin(task)
            # To wait for nothing would never end.
            for ready in wait(list(self._busy), timeout) if self._busy else []:
                finished = self._finished(cast(Connection, ready))
                if finished is not None:
                    yield finished
            if on_wait:
                on_wait()

    def close(self) -> None:
        """End all workers."""
        for worker in [*self._idle, *(worker for worker, _ in self._busy.values())]:
            worker.end()
        self._idle, self._busy = [], {}

    def _begin(self, task: tuple[int, Any]) -> None:
        worker = self._idle.pop() if self._idle else _Worker(self._prepare)
        self._busy[worker.connection] = worker, task
        with suppress(BrokenPipeError, ConnectionResetError):  # it was killed, as `_finished` will find
            worker.connection.send(task[1])

    def _finished(self, connection: Connection) -> tuple[Any, Any] | None:
        """Return the task of a worker that has answered, with its result; None if the worker is dead."""
        worker, task = self._busy.pop(connection)
        try:
            result, error = connection.recv()
        except (EOFError, OSError):
            worker.end()
            self._count_death(task, worker.process.exitcode)
            self._begin(task)
            return None
        self._idle.append(worker)
        if error is not None:
            raise error
        return task[1], result

    def _count_death(self, task: tuple[int, Any], exit_code: int | None) -> None:
        self._deaths[task[0]] += 1
        if self._deaths[task[0]] >= self._most_deaths:
            raise IncparseError(
                f"{self._most_deaths} worker processes ended at {task[1]}, the last with exit code {exit_code}: if "
                f"they lacked memory, use fewer with --n-process"
            )


def _work(prepare: Callable[[], Callable[[Any], Any]], connection: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all processes: the first one ends the others
    Thread(target=_end_with_parent, daemon=True).start()
    function: Callable[[Any], Any] | None = None
    while True:
        try:
            task = connection.recv()
        except (EOFError, OSError):
            return
        try:
            function = function or prepare()
            answer: tuple[Any, Exception | None] = function(task), None
        except Exception as error:
            answer = None, error
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.send(answer)


def _end_with_parent() -> None:
    """End this process if the first one is killed."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        sys.stderr.flush()
        os._exit(1)
