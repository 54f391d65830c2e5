"""The errors that a user's input can cause; each names the place, the value and what to do."""

from __future__ import annotations

from pathlib import Path
from unicodedata import combining, east_asian_width


class IncparseError(ValueError):
    """Wrong input from a user: one sentence, no traceback needed."""


class TreebankError(IncparseError):
    """A treebank file that cannot be read, with the place where reading failed."""

    def __init__(self, path: str | Path, line: int, column: int, what: str):
        super().__init__(f"{path}:{line}:{column}: {what}")
        self.path, self.line, self.column, self.what = str(path), line, column, what

    def __reduce__(self):
        return type(self), (self.path, self.line, self.column, self.what)


class ModelError(IncparseError):
    """A model folder or byte string that cannot be loaded."""


class ConfigError(IncparseError):
    """A setting that does not exist or has a value it cannot have."""


class PatternError(IncparseError):
    """A search pattern with a mistake in it, and the column (from 1) where it is."""

    def __init__(self, pattern: str, column: int, what: str):
        line = pattern.translate(_BLANKS)
        super().__init__(f"the pattern is wrong at column {column}: {what}\n  {line}\n  {_caret(line, column)}")
        self.pattern, self.column, self.what = pattern, column, what

    def __reduce__(self):
        return type(self), (self.pattern, self.column, self.what)


_BLANKS = dict.fromkeys(map(ord, "\t\r\n\v\f"), " ")


def _caret(line: str, column: int) -> str:
    """Return the caret that stands below a column where the line is shown in a terminal's font."""
    before = line[: column - 1]
    widths = (0 if combining(c) else 1 + (east_asian_width(c) in "WF") for c in before)
    return " " * sum(widths) + "^"
