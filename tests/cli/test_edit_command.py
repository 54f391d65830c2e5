"""The command `edit` from its start to its end."""

import json
import os
import re
import signal
import subprocess
import sys
from urllib.request import Request, urlopen

import pytest


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_accepted_trees_are_written_when_the_command_ends(tmp_path, number):
    text = tmp_path / "own.txt"
    text.write_text("She sang .\nIt rained .\n", encoding="utf8")
    command = [sys.executable, "-m", "spacy_incparse", "edit", str(text), "--model", "none", "--tokenized"]
    command += ["--tags", "V,N", "--labels", "VP", "--no-browser", "--port", "0"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        address = re.search(r"http://127\.0\.0\.1:\d+/[\w-]{20,}/", process.stdout.readline())[0]
        place = f"{address}api/sentence/1"
        body = {"version": json.load(urlopen(place))["version"], "action": {"do": "accept"}}
        json.load(urlopen(Request(place, json.dumps(body).encode())))
        process.send_signal(number)
        assert "1 trees are in" in process.stdout.read()
        assert process.wait() == 0
    finally:
        process.kill()
        process.stdout.close()
        process.wait()
    written = (tmp_path / "own.txt.mrg").read_text("utf8")
    assert written == "# sentence 2\n(TOP (V It) (VP (V rained) (V .)))\n"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["missing.mrg"], "missing.mrg"),
        (["own.mrg", "--model", "nothing"], "nothing"),
        (["own.mrg", "--model", "none", "--second", "other.mrg"], "other.mrg has 2 trees"),
        (["empty.txt", "--model", "none"], "empty.txt"),
    ],
)
def test_wrong_input_is_one_error(refused, write, tmp_path, monkeypatch, arguments, error):
    monkeypatch.chdir(tmp_path)
    write("own.mrg", "(TOP (X a))\n")
    write("other.mrg", "(TOP (X a))\n(TOP (X b))\n")
    write("empty.txt", "\n")
    message = refused("edit", *arguments, "--no-browser", "--port", "0")
    assert message.startswith("Error: ")
    assert error in message
