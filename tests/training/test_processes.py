import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from spacy_incparse.errors import IncparseError
from spacy_incparse.workers import run_in_workers


def run(function, tasks, n_process):
    return list(run_in_workers(partial(function_itself, function), tasks, n_process))


def function_itself(function):
    return function


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


def test_after_an_error_the_other_processes_are_ended():
    started = time.perf_counter()
    with pytest.raises(IncparseError, match="at once"):
        run(sleeps_or_fails, [600, 0], 2)
    assert time.perf_counter() - started < 60


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks processes up in /proc")
def test_processes_end_with_the_first_one(tmp_path):
    code = (
        "import sys, time; from tests.training.test_processes import *\n"
        "if __name__ == '__main__': run(notes_its_number, [sys.argv[1] + '/a', sys.argv[1] + '/b'], 2)"
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
