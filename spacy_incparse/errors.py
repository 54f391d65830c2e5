"""The errors that a user's input can cause; each names the place, the value and what to do."""

from __future__ import annotations

from pathlib import Path


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
