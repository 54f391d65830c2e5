"""The code of documents: blocks that Sybil finds, run in order and compared with the output in the document.

All blocks of a document share one folder (with links to `assets`, `configs` and `examples`) and one Python namespace:

- ``python``: a program; the ``text`` block that comes next is what it prints;
- ``console``: lines that begin with ``$ `` are commands, the lines after each are what it prints;
- ``sh``: commands of the set-up, which `.ci/run` runs as they are; the ``text`` block that comes next is what the last
  part of the first line prints, which is run here.

In an output ``...`` stands for anything, as in doctest; empty lines at its end do not count. Code that calls an
embedded pipeline may print something else when that has been trained anew: see `tests/embedded_models.py`.
"""

from __future__ import annotations

import doctest
import io
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, redirect_stdout
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from spacy.tokens import Span, Token
from sybil import Document, Example, Region, Sybil
from sybil.evaluators.python import PythonEvaluator
from sybil.parsers.markdown.lexers import FencedCodeBlockLexer
from sybil.region import Lexeme

from tests.commands import run_command
from tests.embedded_models import may_differ

CHECKOUT = Path(__file__).parents[1]
LINKED = ("assets", "configs", "examples")
BENEPAR_NAMES = ("labels", "parse_string", "constituents", "parent", "children")  # some documents take them
_COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
_STACK = "__exit_stack__"  # where the namespace keeps what is undone at the end
_find_blocks = FencedCodeBlockLexer("python|console|sh|text")
_execute = PythonEvaluator()


@dataclass
class Code:
    """Some code, what prints when it runs, and its output in the document, from `start` to `end`."""

    source: Lexeme
    run: Callable[[Example], str]
    start: int
    end: int
    expected: str

    def printed(self, example: Example) -> str:
        """Run it, and return what it prints, with one line end after it, if any."""
        printed = self.run(example)
        return printed.rstrip("\n") + "\n" if printed.strip() else ""

    def fits(self, printed: str) -> bool:
        """Return whether that is the output in the document."""
        return doctest.OutputChecker().check_output(self.expected, printed, doctest.ELLIPSIS)


def parse_blocks(document: Document) -> Iterator[Region]:
    """Yield the examples of a document: one for each program, and one for each command."""
    blocks = list(_find_blocks(document))
    for block, following in zip_longest(blocks, blocks[1:]):
        language, source = block.lexemes["language"], block.lexemes["source"]
        start, end = _span(block)
        shown = _shown_output(document, block, following)
        output = _span(shown) if shown else (block.end, block.end)
        if language == "console":
            for found in _COMMAND.finditer(document.text, start, end):
                yield _region(document, found.start(), found.end(), Lexeme(found[1], 0, 0), _run_command, found.span(2))
        elif language == "python":
            yield _region(document, block.start, end, source, _run_python, output)
        elif language == "sh" and shown:
            yield _region(document, block.start, end, Lexeme(_last_part(source), 0, 0), _run_command, output)


def _region(
    document: Document, start: int, end: int, source: Lexeme, run: Callable[[Example], str], output: tuple[int, int]
) -> Region:
    return Region(start, end, Code(source, run, *output, document.text[slice(*output)]), check)


def _span(block: Region) -> tuple[int, int]:
    """Return where the lines inside a block begin and end."""
    start = block.start + block.lexemes["source"].offset
    return start, start + len(block.lexemes["source"])


def _shown_output(document: Document, block: Region, following: Region | None) -> Region | None:
    if following and following.lexemes["language"] == "text" and not document.text[block.end : following.start].strip():
        return following
    return None


def _last_part(code: str) -> str:
    """Return the last command of the first line, without the path of the environment that the ones before it make."""
    return code.splitlines()[0].split(" && ")[-1].removeprefix(".venv/bin/")


def check(example: Example) -> str | None:
    """Run an example; return what is wrong with its output, if something is."""
    code: Code = example.parsed
    printed = code.printed(example)
    if code.fits(printed):
        return None
    if may_differ(example.document.text, Path(example.path).relative_to(CHECKOUT)):
        pytest.skip("another model wrote this output: `python tests/readme.py --all` writes it anew")
    return (
        f"{code.source}\n-- expected --\n{code.expected}-- printed --\n{printed}"
        f"write it anew with `python tests/readme.py {Path(example.path).name}`, or mend the code"
    )


def _run_command(example: Example) -> str:
    return run_command(example.parsed.source)


def _run_python(example: Example) -> str:
    code = Example(example.document, example.line, example.column, example.region, example.namespace)
    code.parsed = example.parsed.source
    with redirect_stdout(io.StringIO()) as printed:
        try:
            _execute(code)
        except Exception as error:
            print(f"{type(error).__name__}: {error}")
    return printed.getvalue()


def enter_folder(namespace: dict[str, Any]) -> None:
    """Begin a document: go to a new folder."""
    stack = ExitStack()
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    for name in LINKED:
        (folder / name).symlink_to(CHECKOUT / name)
    stack.callback(os.chdir, Path.cwd())
    stack.enter_context(patch.dict(os.environ, COLUMNS="80"))
    os.chdir(folder)
    namespace.update({"__name__": "__main__", _STACK: stack})


def leave_folder(namespace: dict[str, Any]) -> None:
    """End a document: nothing of it stays."""
    namespace[_STACK].close()
    for owner in (Span, Token):
        for name in BENEPAR_NAMES:
            if owner.has_extension(name):
                owner.remove_extension(name)


SYBIL = Sybil(
    [parse_blocks],
    path=str(CHECKOUT),
    patterns=["docs/*.md"],
    filenames=["README.md"],
    setup=enter_folder,
    teardown=leave_folder,
)
