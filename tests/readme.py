"""Run the code of README.md, or of another document, and compare, or replace, the output that stands there.

    python tests/readme.py               # writes into README.md what its commands and programs print now
    python tests/readme.py FILE.md ...   # does the same with other documents
    python tests/readme.py --all         # with all, and writes those read off the code, and the pictures

Blocks in a row share one folder (with links to `assets`, `configs` and `examples`) and one Python namespace:

- ``python``: a program; the ``text`` block that comes next is what it prints;
- ``console``: lines that begin with ``$ `` are commands, the lines behind each are what it prints;
- ``sh``: the commands of the set-up, which `.ci/run` runs as they are; the ``text`` block that comes next is what the
  last part of the first one prints.

In an output ``...`` stands for anything, as in doctest; empty lines at its end do not count.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).parents[1]
README = CHECKOUT / "README.md"
DOCS = CHECKOUT / "docs"
WRITERS = (DOCS / "generate.py", DOCS / "images" / "draw.py")  # programs that write documents and pictures
LINKED = ("assets", "configs", "examples")
_SECONDS = re.compile(r"\d+\.\d(?=(?:  \*)?$)", re.MULTILINE)  # what `train` prints at the end of its lines
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass
class Output:
    """What stands in a document, from `start` to `end`, as the output of some code, and what it really printed."""

    code: str
    start: int
    end: int
    expected: str
    actual: str

    def __post_init__(self) -> None:
        self.actual = self.actual.rstrip("\n") + "\n" if self.actual.strip() else ""

    @property
    def fits(self) -> bool:
        """Whether it printed what stands there."""
        return doctest.OutputChecker().check_output(self.expected, self.actual, doctest.ELLIPSIS)


def run(text: str, folder: Path) -> Iterator[Output]:
    """Run all code of a document in order, in an empty folder, and yield the outputs."""
    for name in LINKED:
        (folder / name).symlink_to(CHECKOUT / name)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    blocks = list(_BLOCK.finditer(text))
    for number, block in enumerate(blocks):
        language, code = block.groups()
        if language == "console":
            yield from _run_console(code, block.start(2), folder)
        elif language in ("python", "sh"):
            actual = _run_python(code, namespace, folder) if language == "python" else _run(_last_part(code), folder)
            shown = _shown_output(text, block, blocks[number + 1 :])
            if language == "python" or shown:
                start, end = shown.span(2) if shown else (block.end(), block.end())
                yield Output(code, start, end, text[start:end], actual)


def documents() -> list[Path]:
    """Give the documents in docs/ that have code in them."""
    return [
        path
        for path in sorted(DOCS.glob("*.md"))
        if re.search(r"^```(python|console|sh)$", path.read_text("utf8"), re.M)
    ]


def setup_commands(text: str) -> list[str]:
    """Give the lines of the first block of shell commands."""
    return next(block[2] for block in _BLOCK.finditer(text) if block[1] == "sh").splitlines()


def result_rows(text: str) -> list[tuple[str, str]]:
    """Give (figure, name of its row in RESULTS.md), the last two columns of a document's tables of results."""
    tables = re.findall(r"<!-- results -->(.*?)<!-- /results -->", text, re.DOTALL)
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in "".join(tables).splitlines()
        if line[:1] == "|"
    ]
    return [(row[-2], row[-1].strip("`")) for row in cells if row[-1][:1] == "`"]


def missing_figures(figure: str, row: str) -> list[str]:
    """Give the numbers of a figure that are not in the row of that name in RESULTS.md."""
    results = (CHECKOUT / "benchmarks" / "RESULTS.md").read_text(encoding="utf8")
    lines = [line for line in results.splitlines() if f"`{row}`" in line or line.startswith(f"| {row} |")]
    return [number for number in re.findall(r"\d[\d,.]*\d|\d", figure) if not any(number in line for line in lines)]


def updated(text: str, outputs: list[Output]) -> str:
    """Give a document with the actual outputs in place of those that no longer fit."""
    for output in reversed(outputs):
        if not output.fits:
            text = text[: output.start] + _SECONDS.sub("...", output.actual) + text[output.end :]
    return text


def _shown_output(text: str, block: re.Match[str], later: list[re.Match[str]]) -> re.Match[str] | None:
    if later and later[0][1] == "text" and not text[block.end() : later[0].start()].strip():
        return later[0]
    return None


def _run_console(code: str, offset: int, folder: Path) -> Iterator[Output]:
    for match in re.finditer(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", code, re.MULTILINE):
        yield Output(match[1], offset + match.start(2), offset + match.end(2), match[2], _run(match[1], folder))


def _run(command: str, folder: Path) -> str:
    """Run a command with the programs that belong to this interpreter, and give all that it prints."""
    path = f"{_programs(folder)}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "COLUMNS": "80"}
    result = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, check=False,
    )  # fmt: skip
    failed = f"(exit code {result.returncode})\n" if result.returncode else ""
    return result.stdout + failed


def _programs(folder: Path) -> Path:
    """Give a folder with `python` and `spacy-incparse`, whatever this interpreter is called."""
    programs = folder / ".programs"
    if not programs.exists():
        programs.mkdir()
        for name, start in (("python", ""), ("spacy-incparse", " -m spacy_incparse")):
            (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}"{start} "$@"\n')
            (programs / name).chmod(0o755)
    return programs


def _run_python(code: str, namespace: dict[str, Any], folder: Path) -> str:
    here = os.getcwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            try:
                exec(compile(code, "README.md", "exec"), namespace)
            except Exception as error:
                print(f"{type(error).__name__}: {error}")
    finally:
        os.chdir(here)
    return printed.getvalue()


def _last_part(code: str) -> str:
    """Give the last command of the first line, without the path of the environment that the ones before it make."""
    return code.splitlines()[0].split(" && ")[-1].removeprefix(".venv/bin/")


def rewrite(document: Path) -> None:
    """Write into a document what its code prints now."""
    content = document.read_text(encoding="utf8")
    with tempfile.TemporaryDirectory() as scratch:
        results = list(run(content, Path(scratch)))
    document.write_text(updated(content, results), encoding="utf8")
    for changed in (result for result in results if not result.fits):
        print(f"{document.name}: updated the output of: {changed.code.strip().splitlines()[0]}")


if __name__ == "__main__":
    names = sys.argv[1:] or [str(README)]
    if names == ["--all"]:
        for writer in WRITERS:
            subprocess.run([sys.executable, str(writer)], check=True)
        names = [str(path) for path in (README, CHECKOUT / "examples" / "README.md", *documents())]
    for name in names:
        rewrite(Path(name))
