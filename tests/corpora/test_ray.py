"""A local Ray cluster of two workers, in a process of its own. Needs the extra ray."""

import json
import os
import socket
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from spacy_incparse.cli import app
from tests.corpora.conftest import CODE, without_progress

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


def with_ray(arguments, out, *, run=("-m", "spacy_incparse"), **environment):
    command = [sys.executable, *run, *arguments, str(out), "--ray", "local", "--n-process", "2"]
    environment = {**os.environ, **environment}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)


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
    (tmp_path / "wrong.py").write_text("absent")
    wrong = with_ray([*arguments, "--code", str(tmp_path / "wrong.py")], tmp_path / "wrong")
    assert wrong.returncode == 1
    assert f"{tmp_path}/wrong.py: the code cannot be run: NameError: name 'absent' is not defined" in wrong.stderr


DRIVER = """
import sys
from spacy_incparse.cli import app
app(standalone_mode=False)
import ray
print(ray.is_initialized(), sorted({"spacy", "ray.data", "pandas"} & set(sys.modules)))
"""


def test_this_process_starts_only_what_it_needs_and_ends_it(arguments, whole, tmp_path, contents):
    done = with_ray(arguments, tmp_path / "out", run=("-c", DRIVER))
    assert done.stdout.splitlines()[-1] == "False []", done.stderr
    assert contents(tmp_path / "out") == whole


def test_a_document_that_kills_actors_is_put_aside(bombs, tmp_path):
    arguments, _ = bombs
    done = with_ray(arguments, tmp_path / "out")
    assert (done.returncode, without_progress(done.stderr)) == (0, [])
    assert "11 documents, 11 sentences" in done.stdout
    (failed,) = (tmp_path / "out" / "failed").iterdir()
    assert [json.loads(line)["id"] for line in failed.read_text().splitlines()] == ["d4"]


@pytest.mark.parametrize("address", ["{}:{}", "ray://{}:{}"])
def test_an_address_where_nothing_listens_is_an_error_at_once(arguments, tmp_path, address):
    with socket.socket() as bound:  # never listens
        bound.bind(("127.0.0.1", 0))
        address = address.format(*bound.getsockname())
        done = CliRunner().invoke(app, [*arguments, str(tmp_path / "out"), "--ray", address])
    assert (done.exit_code, done.stderr) == (1, f"Error: no Ray cluster at '{address}': Connection refused\n")
