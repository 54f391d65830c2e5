"""A local Ray cluster of two workers, in a process of its own. Needs the extra ray."""

import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from spacy_incparse.cli import app
from tests.corpora.conftest import CODE

pytestmark = pytest.mark.extras
pytest.importorskip("ray")


@pytest.fixture
def arguments(stub, texts):
    return ["annotate", str(texts), "--model", str(stub), "--code", str(CODE), "--shard-chars", "300", "-f", "jsonl"]


@pytest.fixture
def whole(arguments, tmp_path, contents):
    """The files of a run in one process."""
    assert CliRunner().invoke(app, [*arguments, str(tmp_path / "whole")]).exit_code == 0
    return contents(tmp_path / "whole")


def with_ray(arguments, out, **environment):
    command = [sys.executable, "-m", "spacy_incparse", *arguments, str(out), "--ray", "local", "--n-process", "2"]
    return subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=300, check=False
    )


def test_a_worker_is_killed_in_the_middle(arguments, whole, tmp_path, contents):
    mark = tmp_path / "mark"
    done = with_ray(arguments, tmp_path / "out", STUB_KILL=str(mark))
    assert done.returncode == 0, done.stderr
    assert mark.exists()
    assert "58 documents, 116 sentences, 522 words with trees; put aside" in done.stdout
    assert contents(tmp_path / "out") == whole


def test_unfinished_shards_are_done_and_errors_arrive(arguments, whole, tmp_path, contents):
    out = tmp_path / "whole"
    (out / "shards" / "part-000003.json").unlink()
    done = with_ray(arguments, out)
    assert done.returncode == 0, done.stderr
    assert contents(out) == whole
    absent = with_ray([word if word != str(CODE) else f"{CODE}x" for word in arguments], tmp_path / "absent")
    assert (absent.returncode, absent.stderr) == (1, f"Error: {CODE}x: no such file\n")
