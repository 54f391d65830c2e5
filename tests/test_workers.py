import os
import signal
import sys
import time
from importlib import import_module
from multiprocessing.connection import wait

import pytest

from spacy_incparse import workers
from spacy_incparse.errors import IncparseError
from spacy_incparse.workers import Answers, TaskPool, WorkerDiedError, WorkerPool, run_in_order, run_in_workers


def prepare_double():
    """Return a function that doubles, and says which process did it; the first number takes longest."""

    def double(number):
        time.sleep(0.3 * (number == 0))
        return 2 * number, os.getpid()

    return double


def prepare_always_killed():
    return lambda number: os.kill(os.getpid(), signal.SIGKILL)


def prepare_killed_by_seven():
    return lambda number: os.kill(os.getpid(), signal.SIGKILL) if number == 7 else -number


def prepare_failing():
    def fail(number):
        raise IncparseError(f"number {number} is wrong")

    return fail


def test_tasks_are_done_by_processes_that_last():
    results = dict(run_in_workers(prepare_double, range(8), 2))
    assert {task: double for task, (double, _) in results.items()} == {n: 2 * n for n in range(8)}
    assert len({process for _, process in results.values()} - {os.getpid()}) <= 2


def test_one_process_is_this_one():
    assert list(run_in_workers(prepare_double, [1], 1)) == [(1, (2, os.getpid()))]


@pytest.mark.parametrize("run", [run_in_workers, run_in_order])
@pytest.mark.parametrize("n_tasks", range(6))
def test_the_last_tasks_may_end_together(monkeypatch, run, n_tasks):
    def wait_for_all(connections, timeout=None):
        assert connections, "would wait for ever"
        return [ready for connection in connections for ready in wait([connection])]

    monkeypatch.setattr(workers, "wait", wait_for_all)
    assert sorted(task for task, _ in run(prepare_double, range(n_tasks), 2)) == list(range(n_tasks))


def test_tasks_are_taken_when_a_worker_is_free():
    taken = []

    def tasks():
        for number in range(20):
            taken.append(number)
            yield number

    results = run_in_workers(prepare_double, tasks(), 2)
    next(results)
    assert len(taken) <= 3
    results.close()


def test_a_task_that_kills_every_worker_is_an_error():
    with pytest.raises(IncparseError, match=r"3 worker processes ended at 7, the last with exit code -9"):
        list(run_in_workers(prepare_always_killed, [7], 2))


def test_tasks_that_kill_every_worker_may_be_given_up():
    killed = []
    results = run_in_workers(prepare_killed_by_seven, range(6, 9), 2, on_killed=lambda *of: killed.append(of))
    assert sorted(results) == [(6, -6), (8, -8)]
    ((task, error),) = killed
    assert (task, str(error)[:29]) == (7, "3 worker processes ended at 7")


def test_errors_arrive():
    with pytest.raises(IncparseError, match="number 5 is wrong"):
        list(run_in_workers(prepare_failing, [5], 2))


class SlowStarts(TaskPool):
    """A pool in this process whose workers need time to start; some of them die at it."""

    def __init__(self, prepare, n_workers, deaths=()):
        super().__init__(n_workers, 3)
        self.prepare, self.deaths, self.log = prepare, list(deaths), []

    def _start(self):
        worker = Answers(self.prepare)
        return worker, (worker, None)

    def _send(self, worker, task):
        return worker, task

    def _wait(self, tickets):
        return tickets[:1]

    def _answer(self, worker, ticket):
        self.log.append(ticket[1])
        if self.deaths and self.deaths.pop(0):
            raise WorkerDiedError("by chance")
        return worker.prepare() if ticket[1] is None else worker.answer(ticket[1])

    def _end(self, worker):
        self.log.append("end")


def prepare_negative():
    return lambda number: -number


def test_workers_get_tasks_when_they_have_started():
    pool = SlowStarts(prepare_negative, 2)
    assert sorted(pool.run(iter([1, 2, 3]))) == [(1, -1), (2, -2), (3, -3)]
    assert pool.log.index(None) < pool.log.index(1)
    assert list(pool.run(iter([4]))) == [(4, -4)]
    assert pool.log.count(None) == 2
    assert list(pool.run(iter([]))) == []
    pool.close()
    assert pool.log.count("end") == 2


def test_a_single_task_starts_one_worker():
    pool = SlowStarts(prepare_negative, 5)
    assert list(pool.run(iter([1]))) == [(1, -1)]
    assert pool.log == [None, 1]


def test_a_worker_that_dies_at_its_start_or_task_is_replaced():
    pool = SlowStarts(prepare_negative, 1, [True, True, False, True, False, False])
    assert list(pool.run(iter([1, 2]))) == [(1, -1), (2, -2)]
    assert pool.log == [None, "end", None, "end", None, 1, "end", None, 1, 2]


def test_workers_that_cannot_start_are_an_error():
    with pytest.raises(IncparseError, match="3 worker processes ended at their start, the last by chance"):
        list(SlowStarts(prepare_negative, 1, [True] * 3).run(iter([1])))


def test_errors_of_a_start_arrive():
    with pytest.raises(IncparseError, match="cannot start"):
        list(SlowStarts(prepare_wrong, 1).run(iter([1])))


def prepare_wrong():
    raise IncparseError("cannot start")


class PrepareElsewhere:
    """Raises an error of a module that only the worker can import."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self):
        sys.path.insert(0, str(self.folder))
        raise import_module("only_there").CaveError("no file in a cave")


def test_errors_of_a_class_that_is_not_known_here_are_told(tmp_path):
    (tmp_path / "only_there.py").write_text("class CaveError(Exception):\n    pass\n")
    with pytest.raises(IncparseError, match="CaveError: no file in a cave"):
        list(run_in_workers(PrepareElsewhere(tmp_path), [1, 2], 2))


def test_a_pool_needs_a_worker():
    with pytest.raises(ValueError, match="0 workers would never do anything"):
        WorkerPool(lambda: str, 0)
