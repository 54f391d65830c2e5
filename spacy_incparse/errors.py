"""Errors caused by a user's input; each names the place, the value and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unicodedata import combining, east_asian_width


class IncparseError(ValueError):
    """An error in the user's input, described in one sentence; no traceback is needed."""


class TreebankError(IncparseError):
    """A treebank file that cannot be read, with the place of the error."""

    def __init__(self, path: str | Path, line: int, column: int, what: str):
        super().__init__(f"{path}:{line}:{column}: {what}")
        self.path, self.line, self.column, self.what = str(path), line, column, what
        self.problem = what  # without advice that not every caller can follow

    def __reduce__(self):
        return type(self), (self.path, self.line, self.column, self.what)


class UntaggedError(TreebankError):
    """Brackets without parts of speech, where they are expected."""

    def __init__(self, path: str | Path, line: int, column: int, problem: str):
        advice = "brackets without them are read with --no-tags (in Python: tags=False, also of Tree.from_string)"
        super().__init__(path, line, column, f"{problem}; {advice}")
        self.problem = problem

    def __reduce__(self):
        return type(self), (self.path, self.line, self.column, self.problem)


class ModelError(IncparseError):
    """A model folder or byte string that cannot be loaded."""


def check_type(name: str, value: object, types: Any, what: str) -> None:
    """Raise IncparseError, saying `what` an argument must be, if it is of another type; bool is no int."""
    if not isinstance(value, types) or (isinstance(value, bool) and types is int):
        raise IncparseError(f"{name} is {value!r:.60}: it must be {what}")


def check_texts(values: object, part: str) -> None:
    """Raise ModelError, naming the part of the model, where there is anything but texts in a list or dict."""
    if not isinstance(values, list | tuple | dict):
        raise ModelError(f"the model is damaged: its {part} are {values!r:.40}, no list")
    for value in [*values, *(values.values() if isinstance(values, dict) else ())]:
        if not isinstance(value, str):
            raise ModelError(f"the model is damaged: among its {part} there is {value!r:.40}, which is no text")


@contextmanager
def damaged(what: str) -> Iterator[None]:
    """Turn any error in reading stored bytes into a ModelError that begins with `what`, but for one that is another."""
    try:
        yield
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(f"{what} ({error!r})") from error


class ConfigError(IncparseError):
    """A setting that does not exist or has a value it cannot have."""


class PatternError(IncparseError):
    """A mistake in a search pattern, with its column, counted from 1."""

    def __init__(self, pattern: str, column: int, what: str):
        super().__init__(f"the pattern is wrong at column {column}: {what}\n  {_with_caret(pattern, column)}")
        self.pattern, self.column, self.what = pattern, column, what

    def __reduce__(self):
        return type(self), (self.pattern, self.column, self.what)


_BLANKS = dict.fromkeys(map(ord, "\t\r\n\v\f"), " ")
_SHOWN = 60  # characters of a long pattern on either side of the mistake


def _with_caret(pattern: str, column: int) -> str:
    """Return the pattern, or the part around the column, and a second line with a caret under the column."""
    before, behind = pattern[: column - 1].translate(_BLANKS), pattern[column - 1 :].translate(_BLANKS)
    if len(before) > _SHOWN:
        before = "..." + before[-_SHOWN:]
    if len(behind) > _SHOWN:
        behind = behind[:_SHOWN] + "..."
    width = sum(0 if combining(c) else 1 + (east_asian_width(c) in "WF") for c in before)  # in a terminal
    return f"{before}{behind}\n  {' ' * width}^"


INSTALL_TRANSFORMERS = 'pip install "spacy-incparse[transformers]"'


def has_transformers() -> bool:
    """Return whether the packages that an encoder needs are installed, without importing them."""
    return find_spec("spacy_curated_transformers") is not None


def parquet_module() -> Any:
    """Return pyarrow.parquet. Raises IncparseError, saying what to install, if it is missing."""
    return optional_module("pyarrow.parquet", "parquet", "Parquet files need pyarrow")


def optional_module(name: str, extra: str, why: str) -> Any:
    """Return a module. Raises IncparseError with `why`, saying what to install, if it is missing."""
    try:
        return import_module(name)
    except ImportError:
        raise IncparseError(f'{why}, which is not installed: pip install "spacy-incparse[{extra}]"') from None
