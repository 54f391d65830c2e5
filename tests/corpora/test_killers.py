"""Documents that kill the worker that parses them."""

import json
import subprocess
import sys

import pytest

from spacy_incparse.corpora.annotate import MOST_SHARDS, REASON, GivenUp
from spacy_incparse.corpora.records import Document, Shard, Unreadable
from spacy_incparse.errors import IncparseError
from tests.corpora.conftest import without_progress


def shard(number, first, names):
    return Shard(number, first, tuple(Document(name, "a.txt", name) for name in names.split()), 10)


def kill_all(shards, on_killed):
    for one in shards:
        if "bomb" in one.items[0].text:
            on_killed(one, IncparseError("again"))


def test_documents_that_kill_are_put_aside():
    given_up = GivenUp()
    given_up.note(shard(3, 7, "rain bomb snow"), IncparseError("three"))
    given_up.note(shard(5, 20, "long"), IncparseError("five"))  # a single document needs no trial
    given_up.note(shard(6, 21, "hail fog"), IncparseError("six"))  # none of them alone
    found = given_up.without_killers(kill_all)
    aside = [[isinstance(item, Unreadable) for item in one.items] for one in found]
    assert aside == [[False, True, False], [True], [False, False]]
    assert found[0].items[1] == Unreadable("bomb", "a.txt", REASON)
    assert [(one.number, one.first, one.n_bytes) for one in found] == [(3, 7, 10), (5, 20, 10), (6, 21, 10)]


def test_a_pipeline_that_always_dies_is_an_error():
    given_up = GivenUp()
    given_up.note(shard(0, 0, "bomb bomb"), IncparseError("the first"))
    with pytest.raises(IncparseError, match="the first"):
        given_up.without_killers(kill_all)
    given_up.n_finished = 1
    assert len(given_up.without_killers(kill_all)) == 1


def test_too_many_shards_that_kill_are_an_error():
    given_up = GivenUp()
    for number in range(MOST_SHARDS):
        given_up.note(shard(number, number, "bomb"), IncparseError("few"))
    with pytest.raises(IncparseError, match="the last"):
        given_up.note(shard(9, 9, "bomb"), IncparseError("the last"))
    given_up.n_finished = 10
    given_up.note(shard(10, 10, "bomb"), IncparseError("few"))


def test_a_resumed_run_also_puts_them_aside(bombs, tmp_path, contents):
    arguments, _ = bombs
    command = [sys.executable, "-m", "spacy_incparse", *arguments]
    for name in ("whole", "resumed"):
        subprocess.run([*command, str(tmp_path / name), "--n-process", "2"], check=True, timeout=300)
    (tmp_path / "resumed" / "totals.json").unlink()
    failed = next((tmp_path / "resumed" / "failed").iterdir()).stem
    (tmp_path / "resumed" / "shards" / f"{failed}.json").unlink()  # all other shards are from the first run
    subprocess.run([*command, str(tmp_path / "resumed"), "--n-process", "2"], check=True, timeout=300)
    assert contents(tmp_path / "resumed") == contents(tmp_path / "whole")


def test_the_command_puts_them_aside(bombs, tmp_path):
    arguments, texts = bombs
    done = subprocess.run(
        [sys.executable, "-m", "spacy_incparse", *arguments, str(tmp_path / "out"), "--n-process", "2"],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert (done.returncode, without_progress(done.stderr)) == (0, [])
    assert "11 documents, 11 sentences" in done.stdout
    (failed,) = (tmp_path / "out" / "failed").iterdir()
    found = json.loads(failed.read_text())
    assert found == {"document": 4, "id": "d4", "file": texts.as_posix(), "reason": REASON}
