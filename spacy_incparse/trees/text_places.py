"""Lines and columns of a text, for messages."""

from __future__ import annotations

import re
from bisect import bisect
from functools import cached_property


class Places:
    """Turns positions in a text into lines and columns."""

    def __init__(self, text: str):
        self._text = text

    def line_and_column(self, position: int) -> tuple[int, int]:
        """Return line and column, both from 1."""
        line = bisect(self._line_starts, position)
        return line, position - self._line_starts[line - 1] + 1

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(newline.end() for newline in re.finditer("\n", self._text))]
