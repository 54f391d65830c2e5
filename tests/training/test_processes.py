"""Tasks in processes of their own."""

import os
import time

import pytest

from spacy_incparse.errors import IncparseError, TreebankError
from spacy_incparse.training.processes import run_tasks


def square(number):
    return number * number, os.getpid()


def fails(number):
    if number == 2:
        raise TreebankError("file.mrg", 3, 1, "it is wrong")
    return number


def dies(number):
    os._exit(9)


def sleeps_or_fails(seconds):
    if not seconds:
        raise IncparseError("at once")
    time.sleep(seconds)


def test_results_come_with_their_tasks():
    found = list(run_tasks(square, range(5), 2))
    assert sorted((task, result[0]) for task, result in found) == [(i, i * i) for i in range(5)]
    assert len({pid for _, (_, pid) in found}) == 5
    assert os.getpid() not in {pid for _, (_, pid) in found}


def test_one_process_is_this_one():
    assert list(run_tasks(square, range(3), 1)) == [(i, (i * i, os.getpid())) for i in range(3)]


@pytest.mark.parametrize("n_process", [1, 2])
def test_an_error_in_a_task_is_raised(n_process):
    with pytest.raises(TreebankError, match="file.mrg:3:1: it is wrong"):
        list(run_tasks(fails, range(4), n_process))


def test_a_process_that_is_killed_is_told():
    with pytest.raises(IncparseError, match="a process ended with exit code 9: if it lacked memory"):
        list(run_tasks(dies, [1, 2], 2))


def test_after_an_error_the_other_processes_are_ended():
    started = time.perf_counter()
    with pytest.raises(IncparseError, match="at once"):
        list(run_tasks(sleeps_or_fails, [600, 0], 2))
    assert time.perf_counter() - started < 60
