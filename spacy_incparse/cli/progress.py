"""A line on a terminal that says how far a command is."""

from __future__ import annotations

import sys
import time

SECONDS_BETWEEN = 0.2


class Progress:
    """The line; it is shown on standard error, and only where that is a terminal."""

    def __init__(self, *, is_shown: bool = True):
        self._is_shown = is_shown and sys.stderr.isatty()
        self._last = time.monotonic()

    def show(self, text: str) -> None:
        """Put another text in place of the last one, if that has been there for a while."""
        if self._is_shown and time.monotonic() - self._last >= SECONDS_BETWEEN:
            self._write(text)
            self._last = time.monotonic()

    def clear(self) -> None:
        """Take the line away."""
        if self._is_shown:
            self._write("")

    @staticmethod
    def _write(text: str) -> None:
        sys.stderr.write(f"\r{text}\x1b[K")
        sys.stderr.flush()
