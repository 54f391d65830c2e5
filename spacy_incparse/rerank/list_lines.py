"""The lines of a file of n-best lists, read one at a time: such files are large."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import suppress
from math import isfinite
from pathlib import Path
from typing import IO, NamedTuple, cast

from spacy_incparse.errors import IncparseError, TreebankError
from spacy_incparse.treebanks.treebank_files import GZIP_MAGIC

LONGEST_LINE = 2**26  # bytes; a list of 100 long trees on one line takes a hundredth of this


class Line(NamedTuple):
    """A line without its end, and its number, from 1."""

    number: int
    text: str


def read_lines(path: Path) -> Iterator[Line]:
    """Yield the lines of a file in UTF-8, plain or gzipped (recognized by content).

    Raises TreebankError, naming the line, if the file is damaged, in another encoding, or has no lines of text.
    Raises IncparseError if the file cannot be opened.
    """
    number = 0
    try:
        with path.open("rb") as file:
            is_gzipped = file.peek(2).startswith(GZIP_MAGIC)
            stream = cast("IO[bytes]", gzip.GzipFile(fileobj=file)) if is_gzipped else file
            while data := stream.readline(LONGEST_LINE + 1):
                number += 1
                yield Line(number, _text(path, number, data))
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise TreebankError(path, number + 1, 1, f"the gzip file is damaged or truncated: {error}") from None
    except OSError as error:
        raise IncparseError(f"{path}: cannot be read: {error.strerror}") from None


def _text(path: Path, number: int, data: bytes) -> str:
    if len(data) > LONGEST_LINE:
        raise TreebankError(path, number, 1, f"the line has more than {LONGEST_LINE:,} bytes: this is no n-best list")
    try:
        return data.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        what = f"byte 0x{data[error.start]:02x} is not UTF-8: convert the file to UTF-8 first, for example with iconv"
        raise TreebankError(path, number, error.start + 1, what) from None


def score_of(path: Path, number: int, value: object, what: str = "score") -> float:
    """Return a score given as text or number. Raises TreebankError unless it is a finite number."""
    score = float("nan")
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        with suppress(ValueError, OverflowError):
            score = float(value)
    if not isfinite(score):
        raise TreebankError(path, number, 1, f"the {what} {value!r:.40} is not a number; expected one such as -41.2")
    return score


def temperature_of(path: Path, number: int, value: object) -> float:
    """Return a temperature given as text or number. Raises TreebankError unless it is a number above 0."""
    temperature = score_of(path, number, value, "temperature")
    if temperature <= 0:
        raise TreebankError(path, number, 1, f"the temperature {value!r:.40} is not above 0")
    return temperature
