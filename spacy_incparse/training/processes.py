"""Run tasks in several processes, each task in a process of its own, whose memory is free when it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar, cast

from spacy_incparse.errors import IncparseError
from spacy_incparse.workers import SentError, depend_on_parent

Task = TypeVar("Task")
Result = TypeVar("Result")


def run_tasks(
    function: Callable[[Task], Result], tasks: Iterable[Task], n_process: int
) -> Iterator[tuple[Task, Result]]:
    """Yield each task with the result of `function(task)`, in the order in which they finish.

    At most `n_process` tasks run at once; with one process, they run in this one. An error in a task is raised here,
    and so is IncparseError if a process was killed; the other processes are then ended, as after an interruption.
    """
    if n_process == 1:
        for task in tasks:
            yield task, function(task)
        return
    waiting = list(tasks)[::-1]
    running: dict[Connection, tuple[Task, BaseProcess]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < n_process:
                task = waiting.pop()
                connection, process = _start(function, task)
                running[connection] = task, process
            for ready in wait(list(running)):
                connection = cast(Connection, ready)
                task, process = running[connection]
                result = _result(connection, process)
                del running[connection]
                yield task, result
    finally:
        for connection, (_, process) in running.items():
            process.terminate()
            process.join()
            connection.close()


def _start(function: Callable[[Any], Any], task: Any) -> tuple[Connection, BaseProcess]:
    context = get_context("spawn")  # a fork would copy the threads' locks of whatever has been imported
    mine, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(function, task, theirs), daemon=True)
    process.start()
    theirs.close()  # so that a process that is killed ends the connection
    return mine, process


def _run(function: Callable[[Any], Any], task: Any, connection: Connection) -> None:
    depend_on_parent()
    try:
        answer: tuple[Any, SentError | None] = function(task), None
    except Exception as error:
        answer = None, SentError.of(error)
    with suppress(BrokenPipeError):
        connection.send(answer)


def _result(connection: Connection, process: BaseProcess) -> Any:
    try:
        result, error = connection.recv()
    except EOFError:
        process.join()
        raise IncparseError(
            f"a process ended with exit code {process.exitcode}: if it lacked memory, use fewer with --n-process"
        ) from None
    process.join()
    connection.close()
    if error is not None:
        raise error.received()
    return result
