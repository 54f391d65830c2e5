"""The progress of `annotate`: a line that is renewed on a terminal, and a line each minute in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from datetime import timedelta
from typing import TextIO

from spacy_incparse.corpora.records import Counts, ShardRecord

_LOG_SECONDS = 60.0


class AnnotationProgress:
    """Shows words, words per second of this run, the time left, and how many documents were put aside.

    total: bytes of all input files. The time left is that of the bytes that have not been read, at the speed of this
    run; what an earlier run has finished counts as done, but not for the speed.
    """

    def __init__(self, total: int, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic):
        self._total, self._stream, self._clock = total, stream or sys.stderr, clock
        self._is_terminal = self._stream.isatty()
        self._started = self._shown = clock()
        self._n_shards = self._n_bytes = self._new_bytes = self._new_words = self._width = 0
        self._counts = Counts()

    def __enter__(self) -> AnnotationProgress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_terminal and self._width:
            print(f"\r{'':{self._width}}\r", end="", file=self._stream, flush=True)

    def __call__(self, n_bytes: int, record: ShardRecord, *, is_new: bool) -> None:
        """Note a shard with these bytes of the input; not `is_new`: an earlier run has finished it."""
        self._n_shards += 1
        self._n_bytes += n_bytes
        self._counts.add(record.counts)
        if is_new:
            self._new_bytes += n_bytes
            self._new_words += record.counts.words
        if self._is_terminal:
            line = self.line()
            print(f"\r{line:<{self._width}}", end="", file=self._stream, flush=True)
            self._width = len(line)
        elif self._clock() - self._shown >= _LOG_SECONDS:
            self._shown = self._clock()
            print(self.line(), file=self._stream, flush=True)

    def line(self) -> str:
        """Return the state in words."""
        seconds = max(self._clock() - self._started, 1e-9)
        left = max(self._total - self._n_bytes, 0)
        percent = 100 * self._n_bytes / max(self._total, 1)
        text = f"{percent:.0f} %, {self._n_shards:,} shards, {self._counts.words:,} words"
        if self._new_bytes:
            time_left = timedelta(seconds=round(left / self._new_bytes * seconds))
            text += f", {self._new_words / seconds:,.0f} words/s, {time_left} left"
        return text + (f", {self._counts.failed:,} documents put aside" if self._counts.failed else "")
