"""Commands of documents, run as a shell would, but Python's programs in this process: each start takes a second."""

from __future__ import annotations

import os
import runpy
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple
from unittest.mock import patch

import spacy.cli
from typer.testing import CliRunner

from spacy_incparse.cli import app

PROGRAMS = ("spacy-incparse", "python")
MODULES = {"spacy_incparse": app, "spacy": spacy.cli.app}  # as in `python -m spacy`


class Printed(NamedTuple):
    """What a program prints, and how it ends."""

    stdout: str
    stderr: str
    both: str
    code: int


def start_program(*arguments: object, **settings: Any) -> subprocess.Popen[str]:
    """Start the program in a process of its own that can be interrupted.

    Where the tests run in the background of a script, the shell lets them and their children ignore interruptions.
    """
    words = [sys.executable, "-m", "spacy_incparse", *map(str, arguments)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    return subprocess.Popen(words, preexec_fn=heed, **pipes, **settings)


def run_command(command: str) -> str:
    """Run a command in the current folder; return all that it prints, and its exit code unless that is 0."""
    printed = ""
    for words in _divided(_words(command.replace("\\\n", " ")), "&&"):
        part = _run_part(words)
        printed += part.both
        if part.code:
            return f"{printed}(exit code {part.code})\n"
    return printed


def _words(command: str) -> list[str]:
    """Return words and operators, quoted as they are."""
    lexer = shlex.shlex(command, posix=False, punctuation_chars="|&<>;")
    lexer.whitespace_split, lexer.commenters = True, ""
    return list(lexer)


def _divided(words: Sequence[str], at: str) -> Iterator[list[str]]:
    start = 0
    for stop in [*(number for number, word in enumerate(words) if word == at), len(words)]:
        yield list(words[start:stop])
        start = stop + 1


def _run_part(words: Sequence[str]) -> Printed:
    """Run `COMMANDS OF THE SHELL | PROGRAM ... | COMMANDS OF THE SHELL`; what is around the program may be missing."""
    starts = [number for number, word in enumerate(words) if word in PROGRAMS and words[:number][-1:] in ([], ["|"])]
    if not starts:
        return _shell(" ".join(words), "")
    (start,) = starts
    stop = next((number for number in range(start, len(words)) if words[number] in ("|", ">", ">>")), len(words))
    given = _shell(" ".join(words[: start - 1]), "").stdout if start else ""
    printed = run_program(shlex.split(" ".join(words[start:stop])), given)
    if stop == len(words):
        return printed
    rest = _shell(f"cat {' '.join(words[stop:])}", printed.stdout)
    return Printed(rest.stdout, rest.stderr, printed.stderr + rest.both, printed.code or rest.code)


def _shell(command: str, stdin: str) -> Printed:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        input=stdin, capture_output=True, text=True, encoding="utf8", check=False,
    )  # fmt: skip
    return Printed(done.stdout, done.stderr, done.stdout + done.stderr, done.returncode)


def run_program(words: Sequence[str], stdin: str = "") -> Printed:
    """Run `spacy-incparse`, a file of Python or one of `MODULES`, given by its words, in the current folder."""
    program, *arguments = words
    if program == "python" and arguments[0] != "-m":
        return _script(arguments)
    command = app
    if program == "python":
        _, module, *arguments = arguments
        command = MODULES[module]
    result = CliRunner().invoke(command, arguments, input=stdin, catch_exceptions=False)
    return Printed(result.stdout, result.stderr, result.output, result.exit_code)


def _script(words: Sequence[str]) -> Printed:
    """Run a file of Python; what it and its own child processes write to standard output is printed."""
    with TemporaryFile("w+", encoding="utf8") as written, patch.object(sys, "argv", list(words)):
        outer = os.dup(1)
        os.dup2(written.fileno(), 1)
        try:
            with open(1, "w", encoding="utf8", closefd=False) as stdout, redirect_stdout(stdout), _modules_of(words[0]):
                runpy.run_path(words[0], run_name="__main__")
        finally:
            os.dup2(outer, 1)
            os.close(outer)
        written.seek(0)
        text = written.read()
    return Printed(text, "", text, 0)


@contextmanager
def _modules_of(script: str) -> Iterator[None]:
    """Let a script import the files beside it, which are forgotten afterwards."""
    folder = str(Path(script).parent.resolve())
    with patch.object(sys, "path", [folder, *sys.path]):
        yield
    for name, module in list(sys.modules.items()):
        if os.path.dirname(getattr(module, "__file__", None) or "") == folder:
            del sys.modules[name]
