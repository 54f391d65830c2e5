"""Measure the house rather than its inhabitants: how much code there is, and how much of it one call goes through.

Prints a Markdown table with the commit it was counted at, beside the counts of commit e19dbaa and what was to be
reached from there. `--static` counts the sources only. What is counted:

- Lines of product: all lines of .py, .pyx and .pxd files of the package, empty ones too, as `wc -l`.
- Files of Python: all of them; their median is of those other than `__init__.py`. Lines before the first definition:
  those before the first statement that is no docstring, import or `if` (a class, function or constant, with its
  decorators), again without `__init__.py`; if there is none, all lines.
- Settings: the fields of the configuration of each registered kind of parser, and in brackets their sum with a
  configuration that several kinds share counted once.
- Files and functions: those of the package in Python whose functions are entered, lambdas, comprehensions and
  generator expressions included, the bodies of modules and classes excluded, when the call is made for the second time
  in a process, with another sentence. (From Python 3.12 on, comprehensions are no functions.) Compiled functions do not
  count.
- Frames to the beam: frames in Python from `TreePipe.predict` to the function that calls the compiled `Beam.parse`,
  both included.
- Trees written: calls of the compiled `TreeWriter.write` that makes a tree from a derivation, and of `heads_field`,
  which gives the field of its heads, during `doc._.parses(3)` for a sentence of nine words.
- Generated C++: the size of the files that Cython wrote next to its sources, if the package was built here; the code
  that modules share (`_cyutility`) counts, files whose source is gone do not.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import dataclasses
import inspect
import io
import json
import platform
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import distribution
from pathlib import Path
from statistics import median
from types import CodeType, FrameType
from typing import Any

import common

PACKAGE = common.CHECKOUT / "spacy_incparse"
KINDS = "spacy_incparse_parser_kinds"  # the group of entry points
SAMPLE = common.CHECKOUT / "assets"
FIRST = "Anna opened the window."
SECOND = "She saw the man with the telescope yesterday."
# key, what is counted, the count of commit e19dbaa (made by this script, with Python 3.11), what was to be reached
ROWS = (
    ("lines", "lines of product, `.py` + `.pyx` + `.pxd`", "56,246", "<= 44,500, aim 42,000"),
    ("files", "files of Python; median lines; before the first definition", "433; 92; 16 %", "<= 220; >= 140; <= 9 %"),
    ("settings", "settings that users can write", "131 (95)", "<= 60"),
    (
        "pipe",
        "one sentence through `nlp.pipe`: files, functions; frames to the beam",
        "26, 104; 9",
        "<= 18, <= 60; <= 5",
    ),
    ("parses", "`doc._.parses(3)`: files; trees written, head fields", "28; 101, 100", "<= 15; 3"),
    ("commands", "`search` on a bracket file; `train` for one pass: files", "30; 79", "<= 15; <= 60"),
    ("compiled", "modules that are compiled; generated C++", "65; 44 MB", "<= 45; <= 22 MB"),
)
TRACED = ("pipe", "parses", "search", "train")


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--static", action="store_true", help="only count the sources; trace no calls")
    parser.add_argument("--trace", choices=TRACED, help="print what one call enters, as JSON; for the script itself")
    arguments = parser.parse_args(argv)
    if arguments.trace:
        print(json.dumps(traced(arguments.trace)))
        return
    cells = static_cells(PACKAGE) | ({} if arguments.static else traced_cells())
    print(f"| what | e19dbaa | {common.commit()}, Python {platform.python_version()} | reach |\n|---|---|---|---|")
    for key, what, before, reach in ROWS:
        if key in cells:
            print(f"| {what} | {before} | {cells[key]} | {reach} |")


def static_cells(package: Path) -> dict[str, str]:
    """Return the counts that are read off the files of a package."""
    lines = {
        path: path.read_text(encoding="utf8").splitlines()
        for kind in ("py", "pyx", "pxd")
        for path in package.rglob(f"*.{kind}")
    }
    python = [path for path in lines if path.suffix == ".py"]
    subjects = [path for path in python if path.name != "__init__.py"]
    share = sum(lines_before_definitions(lines[path]) for path in subjects) / sum(len(lines[path]) for path in subjects)
    modules = [path for path in lines if path.suffix == ".pyx"]
    generated = [module.with_suffix(".cpp") for module in modules]
    generated += [path for path in package.rglob("_cyutility.c*") if path.suffix in (".c", ".cpp")]
    size = sum(path.stat().st_size for path in generated if path.exists()) / common.MEGABYTE
    configs = [kind.load().config_type for kind in distribution("spacy-incparse").entry_points.select(group=KINDS)]
    settings, distinct = (sum(len(dataclasses.fields(one)) for one in found) for found in (configs, set(configs)))
    return {
        "lines": f"{sum(map(len, lines.values())):,}",
        "files": f"{len(python)}; {median(len(lines[path]) for path in subjects):.0f}; {share:.0%}".replace("%", " %"),
        "settings": f"{settings} ({distinct})",
        "compiled": f"{len(modules)}; {f'{size:.0f} MB' if size else 'not built here'}",
    }


def lines_before_definitions(lines: Sequence[str]) -> int:
    """Return the number of lines before the first class, function or constant of a module; all if there is none."""
    for node in ast.parse("\n".join(lines)).body:
        if not isinstance(node, (ast.Expr, ast.Import, ast.ImportFrom, ast.If)):
            return min(one.lineno for one in (node, *getattr(node, "decorator_list", ()))) - 1
    return len(lines)


def traced_cells() -> dict[str, str]:
    """Return the counts of what calls enter; each is made in a process of its own."""
    found = {}
    for name in TRACED:
        command = [sys.executable, __file__, "--trace", name]
        output = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        found[name] = json.loads(output.splitlines()[-1])
    pipe, parses, search, train = (found[name] for name in TRACED)
    return {
        "pipe": f"{pipe['files']}, {pipe['functions']}; {pipe['frames']}",
        "parses": f"{parses['files']}; {parses['written']}, {parses['heads']}",
        "commands": f"{search['files']}; {train['files']}",
    }


def traced(name: str) -> dict[str, int]:
    """Make a call twice, and return what the second one enters."""
    with tempfile.TemporaryDirectory() as folder:
        call = {"pipe": pipe_calls, "parses": parses_calls, "search": search_calls, "train": train_calls}[name](folder)
        next(call)()
        trace = Trace()
        trace.run(next(call))
    return trace.counts()


def pipe_calls(_: str) -> Iterator[Callable[[], Any]]:
    """Yield calls that parse a sentence with the embedded pipeline."""
    import spacy_incparse

    nlp = spacy_incparse.load("en")
    for text in (FIRST, SECOND):
        yield lambda text=text: list(nlp.pipe([text]))


def parses_calls(_: str) -> Iterator[Callable[[], Any]]:
    """Yield calls that read the three best analyses of a parsed sentence."""
    import spacy_incparse

    nlp = spacy_incparse.load("en")
    for text in (FIRST, SECOND):
        doc = nlp(text)
        yield lambda doc=doc: doc._.parses(3)


def search_calls(_: str) -> Iterator[Callable[[], Any]]:
    """Yield calls of the command that finds noun phrases in a bracket file."""
    for _ in range(2):
        yield lambda: run_command("search", "NP", SAMPLE / "sample-dev.mrg")


def train_calls(folder: str) -> Iterator[Callable[[], Any]]:
    """Yield calls of the command that trains for one pass."""
    parts = SAMPLE / "sample-train.mrg", SAMPLE / "sample-dev.mrg"
    for number in range(2):
        yield lambda number=number: run_command("train", *parts, Path(folder, str(number)), "--max-epochs", 1)


def run_command(*arguments: object) -> None:
    """Run a command of the package in this process, without its output."""
    from spacy_incparse.cli import app

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        app([str(argument) for argument in arguments], standalone_mode=False)


class Trace:
    """Counts the functions of the package that are entered while something runs, and its calls of compiled code."""

    def __init__(self):
        import spacy_incparse

        self._folder = str(Path(spacy_incparse.__file__).parent)
        self._functions: Counter[CodeType] = Counter()
        self._compiled: Counter[tuple[str, str]] = Counter()  # class and function
        self._frames = 0

    def run(self, call: Callable[[], Any]) -> None:
        """Make a call, and count in all its threads."""
        threading.setprofile(self._on_event)
        sys.setprofile(self._on_event)
        try:
            call()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)  # type: ignore[arg-type]

    def counts(self) -> dict[str, int]:
        """Return the counts by what they are of."""
        return {
            "files": len({code.co_filename for code in self._functions}),
            "functions": len(self._functions),
            "frames": self._frames,
            "written": self._compiled["TreeWriter", "write"],
            "heads": sum(n for code, n in self._functions.items() if code.co_name == "heads_field"),
        }

    def _on_event(self, frame: FrameType, event: str, argument: Any) -> None:
        if not self._is_own(frame):
            return
        if event == "call" and frame.f_code.co_flags & inspect.CO_OPTIMIZED:  # not the body of a module or class
            self._functions[frame.f_code] += 1
        elif event == "c_call":
            of, name = type(getattr(argument, "__self__", None)).__name__, getattr(argument, "__name__", "")
            self._compiled[of, name] += 1
            if (of, name) == ("Beam", "parse"):
                self._frames = max(self._frames, self._depth(frame))

    def _depth(self, frame: FrameType | None) -> int:
        """Return the number of frames of the package from `predict` to this one."""
        n_frames = 0
        while frame is not None:
            n_frames += self._is_own(frame)
            if self._is_own(frame) and frame.f_code.co_name == "predict":
                return n_frames
            frame = frame.f_back
        return 0

    def _is_own(self, frame: FrameType) -> bool:
        return frame.f_code.co_filename.startswith(self._folder)


if __name__ == "__main__":
    main()
