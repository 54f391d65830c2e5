"""Tasks in processes of their own."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from spacy_incparse.errors import IncparseError, TreebankError
from spacy_incparse.rerank.list_folders import run_tasks


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


def notes_its_number(path):
    unfinished = Path(path + ".tmp")
    unfinished.write_text(str(os.getpid()), encoding="utf8")
    unfinished.replace(path)
    time.sleep(600)


def is_running(number):
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{number}/stat").read_text(encoding="utf8").split()[2] != "Z"


def test_results_come_with_their_tasks():
    found = list(run_tasks(square, range(5), 2))
    assert sorted((task, result[0]) for task, result in found) == [(i, i * i) for i in range(5)]
    assert len({pid for _, (_, pid) in found}) == 5
    assert os.getpid() not in {pid for _, (_, pid) in found}


def test_one_process_is_this_one():
    assert list(run_tasks(square, range(3), 1)) == [(i, (i * i, os.getpid())) for i in range(3)]


@pytest.mark.parametrize("n_process", [1, 2])
def test_an_error_in_a_task_is_raised(n_process):
    with pytest.raises(TreebankError, match=r"file\.mrg:3:1: it is wrong"):
        list(run_tasks(fails, range(4), n_process))


def test_a_process_that_is_killed_is_told():
    with pytest.raises(IncparseError, match="a process ended with exit code 9: if it lacked memory"):
        list(run_tasks(dies, [1, 2], 2))


def test_after_an_error_the_other_processes_are_ended():
    started = time.perf_counter()
    with pytest.raises(IncparseError, match="at once"):
        list(run_tasks(sleeps_or_fails, [600, 0], 2))
    assert time.perf_counter() - started < 60


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks processes up in /proc")
def test_processes_end_with_the_first_one(tmp_path):
    code = (
        "import sys, time; from tests.training.test_processes import *\n"
        "if __name__ == '__main__': list(run_tasks(notes_its_number, [sys.argv[1] + '/a', sys.argv[1] + '/b'], 2))"
    )
    (tmp_path / "program.py").write_text(code, encoding="utf8")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    program = subprocess.Popen([sys.executable, tmp_path / "program.py", tmp_path], env=environment)
    deadline = time.monotonic() + 60
    while not ((tmp_path / "a").exists() and (tmp_path / "b").exists()) and time.monotonic() < deadline:
        time.sleep(0.1)
    program.kill()
    program.wait()
    for name in "ab":
        while is_running(int((tmp_path / name).read_text(encoding="utf8"))) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not is_running(int((tmp_path / name).read_text(encoding="utf8")))
