"""Run many tasks in a few worker processes that last, each of which prepares itself once, as by loading a pipeline.

Tasks are taken from their source only when a worker is free, so that a source of any length needs little memory.
"""

from __future__ import annotations

import os
import signal
import sys
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
from threading import Thread
from typing import Any, Generic, NamedTuple, TypeVar, cast

from spacy_incparse.errors import IncparseError

Task = TypeVar("Task")
Result = TypeVar("Result")
Prepare = Callable[[], Callable[[Task], Result]]
OnKilled = Callable[[Any, IncparseError], object]
"""Takes a task that kills its workers, which is then given up, and the error that would be raised otherwise."""


def batches(items: Iterable[Task], least: int, length: Callable[[Task], int] = len) -> Iterator[list[Task]]:  # type: ignore[assignment]
    """Yield consecutive items in groups, each of which ends with the item with which it has the least length."""
    batch, size = list[Task](), 0
    for item in items:
        batch.append(item)
        size += length(item)
        if size >= least:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


MOST_DEATHS = 3  # of workers at the same task
_AHEAD = 4  # tasks for each process that may be done before their turn


def run_in_workers(
    prepare: Prepare[Task, Result], tasks: Iterable[Task], n_process: int, *, on_killed: OnKilled | None = None
) -> Iterator[tuple[Task, Result]]:
    """Yield each task with its result, in the order in which they finish.

    prepare: called once in each worker; returns the function for its tasks. With one process, all runs in this one.

    A worker that is killed is replaced, and its task is done again. If a task has killed `MOST_DEATHS` workers,
    IncparseError is raised, or `on_killed` called with it. Raises whatever error `prepare` or its function raises. The
    workers are then ended, and also if the iterator is closed.
    """
    if n_process == 1:
        function: Callable[[Task], Result] | None = None
        for task in tasks:
            function = function or prepare()
            yield task, function(task)
        return
    yield from run_in_pool(WorkerPool(prepare, n_process), tasks, on_killed=on_killed)


def run_in_pool(
    pool: TaskPool, tasks: Iterable[Task], *, on_killed: OnKilled | None = None
) -> Iterator[tuple[Task, Any]]:
    """Yield each task with its result, in the order in which they finish; then, or after an error, end the workers."""
    try:
        yield from pool.run(iter(tasks), on_killed=on_killed)
    finally:
        pool.close()


def run_in_order(
    prepare: Prepare[Task, Result], tasks: Iterable[Task], n_process: int
) -> Iterator[tuple[Task, Result]]:
    """Yield each task with its result, in the order of the tasks; the rest is as in `run_in_workers`."""
    if n_process == 1:
        yield from run_in_workers(prepare, tasks, 1)
        return
    pool = WorkerPool(partial(_of_numbered, prepare), n_process)
    done: dict[int, tuple[Task, Result]] = {}  # those that wait for an earlier one; while they are many, no task begins
    turn = 0
    try:
        for (number, task), result in pool.run(enumerate(tasks), may_begin=lambda: len(done) < _AHEAD * n_process):
            done[number] = task, result
            while turn in done:
                yield done.pop(turn)
                turn += 1
    finally:
        pool.close()


def _of_numbered(prepare: Callable[[], Callable[[Any], Any]]) -> Callable[[tuple[int, Any]], Any]:
    function = prepare()
    return lambda numbered: function(numbered[1])


class WorkerDiedError(Exception):
    """A worker is gone; the text says how it ended."""


class Answers:
    """A worker's function, which is prepared before the first task."""

    def __init__(self, prepare: Callable[[], Callable[[Any], Any]]):
        self._prepare = prepare
        self._function: Callable[[Any], Any] | None = None

    def prepare(self) -> tuple[None, SentError | None]:
        """Prepare the function; return as `answer` does."""
        try:
            self._function = self._function or self._prepare()
        except Exception as error:
            return None, SentError.of(error)
        return None, None

    def answer(self, task: Any) -> tuple[Any, SentError | None]:
        """Return a task's result, or the error to be raised in the first process."""
        _, error = self.prepare()
        if error is not None or self._function is None:
            return None, error
        try:
            return self._function(task), None
        except Exception as failure:
            return None, SentError.of(failure)


class SentError(NamedTuple):
    """An error on its way to another process, which may not know its class."""

    pickled: bytes
    text: str

    @classmethod
    def of(cls, error: Exception) -> SentError:
        """Return an error to send."""
        try:
            pickled = bytes(ForkingPickler.dumps(error))
        except Exception:
            pickled = b""
        return cls(pickled, f"{type(error).__name__}: {error}")

    def received(self) -> Exception:
        """Return the error, or one with its text if it cannot be made again here."""
        try:
            return ForkingPickler.loads(self.pickled)
        except Exception:
            return IncparseError(self.text)


Worker = TypeVar("Worker")
Ticket = TypeVar("Ticket")


_START = -1  # in place of the number of a task: the start of a worker


class TaskPool(ABC, Generic[Worker, Ticket]):
    """The loop of a pool, for any kind of worker: who does which task, and which tasks are done again.

    A ticket stands for an answer that will come. A worker that needs time to start gets no task before it is ready.
    """

    def __init__(self, n_workers: int, most_deaths: int):
        if n_workers < 1:
            raise ValueError(f"{n_workers} workers would never do anything")
        self._n_workers, self._most_deaths = n_workers, most_deaths
        self._idle: list[Worker] = []
        # Each worker with its task and the task's number; None: the worker prepares itself.
        self._busy: dict[Ticket, tuple[Worker, tuple[int, Any] | None]] = {}
        self._deaths: Counter[int] = Counter()  # by the number of the task
        self._on_killed: OnKilled | None = None

    @abstractmethod
    def _start(self) -> tuple[Worker, Ticket | None]:
        """Start a worker; if it is not ready at once, a ticket is for its `Answers.prepare`."""

    @abstractmethod
    def _send(self, worker: Worker, task: Any) -> Ticket:
        """Give a task to a worker that is idle."""

    @abstractmethod
    def _wait(self, tickets: list[Ticket]) -> Iterable[Ticket]:
        """Return tickets whose answers have come or never will."""

    @abstractmethod
    def _answer(self, worker: Worker, ticket: Ticket) -> tuple[Any, SentError | None]:
        """Return what `Answers` returned. Raises WorkerDiedError."""

    @abstractmethod
    def _end(self, worker: Worker) -> None:
        """End a worker, in whatever state it is."""

    def run(
        self,
        tasks: Iterator[Any],
        *,
        may_begin: Callable[[], bool] = lambda: True,
        on_killed: OnKilled | None = None,
    ) -> Iterator[Any]:
        """Yield (task, result), in the order in which they finish; errors are as in `run_in_workers`.

        While `may_begin` is false, no new task is taken. on_killed: None: the error is raised.
        """
        numbered, is_open = enumerate(tasks), True
        waiting: deque[tuple[int, Any]] = deque()  # for a worker
        self._deaths.clear()
        self._on_killed = on_killed
        while is_open or waiting or self._n_begun:
            while is_open and (n := len(waiting) + self._n_begun) < self._n_workers and (may_begin() or not n):
                task = next(numbered, None)
                if task is None:
                    is_open = False
                else:
                    waiting.append(task)
            self._give_out(waiting)
            # To wait for nothing would never end.
            for ticket in self._wait(list(self._busy)) if self._busy else []:
                yield from self._finished(ticket, waiting)

    def close(self) -> None:
        """End all workers."""
        for worker in [*self._idle, *(worker for worker, _ in self._busy.values())]:
            self._end(worker)
        self._idle, self._busy = [], {}

    @property
    def _n_begun(self) -> int:
        return sum(task is not None for _, task in self._busy.values())

    def _give_out(self, waiting: deque[tuple[int, Any]]) -> None:
        """Let idle workers begin with tasks, and start workers for the others."""
        n_starting = len(self._busy) - self._n_begun
        while len(self._idle) + n_starting < len(waiting):
            worker, ticket = self._start()
            if ticket is None:
                self._idle.append(worker)
            else:
                self._busy[ticket] = worker, None
                n_starting += 1
        while self._idle and waiting:
            ticket = self._send(self._idle[-1], waiting[0][1])
            self._busy[ticket] = self._idle.pop(), waiting.popleft()

    def _finished(self, ticket: Ticket, waiting: deque[tuple[int, Any]]) -> Iterator[tuple[Any, Any]]:
        """Yield a task that is done, with its result; if its worker is dead, put it back."""
        worker, task = self._busy.pop(ticket)
        try:
            result, error = self._answer(worker, ticket)
        except WorkerDiedError as death:
            self._end(worker)
            number, what = task or (_START, "their start")
            self._deaths[number] += 1
            if self._deaths[number] >= self._most_deaths:
                end = IncparseError(
                    f"{self._most_deaths} worker processes ended at {what}, the last {death}: if they lacked memory, "
                    f"use fewer with --n-process"
                )
                if task is None or self._on_killed is None:
                    raise end from None
                self._on_killed(what, end)
            elif task is not None:
                waiting.appendleft(task)
            return
        self._idle.append(worker)
        if error is not None:
            raise error.received()
        if task is None:
            del self._deaths[_START]
        else:
            yield task[1], result


class _Process:
    """A process and the connection to it."""

    def __init__(self, prepare: Callable[[], Any]):
        context = get_context("spawn")  # a fork would copy the threads' locks of whatever has been imported
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(prepare, theirs), daemon=True)
        self.process.start()
        theirs.close()  # so that a worker that is killed ends the connection


class WorkerPool(TaskPool[_Process, Connection]):
    """A pool whose workers are processes."""

    def __init__(self, prepare: Callable[[], Any], n_process: int, most_deaths: int = MOST_DEATHS):
        super().__init__(n_process, most_deaths)
        self._prepare = prepare

    def _start(self) -> tuple[_Process, None]:
        return _Process(self._prepare), None

    def _send(self, worker: _Process, task: Any) -> Connection:
        with suppress(BrokenPipeError, ConnectionResetError):  # it was killed, as `_answer` will find
            worker.connection.send(task)
        return worker.connection

    def _wait(self, tickets: list[Connection]) -> Iterable[Connection]:
        return cast("list[Connection]", wait(tickets))

    def _answer(self, worker: _Process, ticket: Connection) -> tuple[Any, SentError | None]:
        try:
            return ticket.recv()
        except (EOFError, OSError):
            worker.process.join()
            raise WorkerDiedError(f"with exit code {worker.process.exitcode}") from None

    def _end(self, worker: _Process) -> None:
        worker.process.terminate()
        worker.process.join()
        worker.connection.close()


def _work(prepare: Callable[[], Callable[[Any], Any]], connection: Connection) -> None:
    depend_on_parent()
    answers = Answers(prepare)
    while True:
        try:
            task = connection.recv()
        except (EOFError, OSError):
            return
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.send(answers.answer(task))


def depend_on_parent() -> None:
    """Let the first process end this one, also by being killed. Ctrl-C, which goes to all processes, does not."""

    def end_with_parent() -> None:
        parent = parent_process()
        if parent is not None:
            parent.join()
            sys.stderr.flush()
            os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=end_with_parent, daemon=True).start()
