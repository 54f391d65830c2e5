"""Finding files, reading lines, writing files completely or not at all, and unpacking compressed data up to a limit."""

from __future__ import annotations

import csv
import ctypes
import errno
import glob
import gzip
import io
import os
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from spacy_incparse.errors import IncparseError, ModelError

FREE_BYTES = 2**28  # any compressed data may unpack to this many
MAX_RATIO = 100  # for larger data: trees and weights shrink to a tenth, malicious data to 1/1000
_FULL = {errno.ENOSPC, errno.EDQUOT} if hasattr(errno, "EDQUOT") else {errno.ENOSPC}


def most_unpacked(n_bytes: int) -> int:
    """Return how many bytes this many compressed bytes may unpack to."""
    return max(FREE_BYTES, MAX_RATIO * n_bytes)


def unzip(data: bytes, what: str, most: int | None = None) -> bytes:
    """Decompress zlib data; if they unpack to more than `most` bytes, return one more than that and drop the rest.

    `what` starts the error message, such as "the weights are". Without `most`, the limit is `most_unpacked`, and more
    than that is also an error. Raises ModelError if the data are damaged.
    """
    limit = most_unpacked(len(data)) if most is None else most
    stream = zlib.decompressobj()
    try:
        found = stream.decompress(data, limit + 1)
    except zlib.error as error:
        raise ModelError(f"{what} damaged: {error}") from None
    if most is None and len(found) > limit:
        raise ModelError(f"{what} damaged: {len(data):,} bytes unpack to more than {limit:,}")
    if len(found) <= limit and not stream.eof:
        raise ModelError(f"{what} damaged: their end is missing")
    return found


def gunzip(data: bytes, most: int) -> bytes:
    """Decompress a gzipped file; if it unpacks to more than `most` bytes, return one more and drop the rest."""
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        return file.read(most + 1)


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file completely or leave it unchanged. Raises IncparseError with its name if that fails."""
    write_file(path, lambda unfinished: unfinished.write_bytes(data))


def write_file(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` write a file completely, or leave it unchanged; devices and pipes are written directly.

    Its folder is made. Raises IncparseError with the file's name if that fails.
    """
    is_special = path.exists() and not path.is_file()
    unfinished = path if is_special else unfinished_path(path)
    with named(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            write(unfinished)
            if not is_special:
                unfinished.replace(path.resolve())  # the target if it is a link
        finally:
            if not is_special:
                unfinished.unlink(missing_ok=True)


def unfinished_path(path: Path) -> Path:
    """Return the hidden file that `write_file` writes first: beside the file itself, wherever a link to it is."""
    target = path.resolve()
    return target.with_name(f".{target.name}.tmp")


def check_writable(path: Path) -> None:
    """Raise IncparseError if a file or folder, which may not exist yet, cannot be written."""
    place = next(place for place in (path, *path.absolute().parents) if place.exists())
    if place is not path and not place.is_dir():
        raise IncparseError(f"{path} cannot be written: {place} is a file, not a folder")
    if not os.access(place, os.W_OK):
        raise IncparseError(f"{path} cannot be written: you have no permission to write to {place}")


def existing_paths(path: Path | str) -> list[Path]:
    """Return a path that exists, or those of a glob, sorted; [] if there are none."""
    if Path(path).exists():  # also a pipe, and a name with brackets
        return [Path(path)]
    return [Path(found) for found in sorted(glob.glob(str(path), recursive=True))]


STDIN = Path("-")
"""Standard input, wherever a file with trees may be named."""


def named_paths(path: Path | str) -> list[Path]:
    """Return paths as `existing_paths` does. Raises IncparseError if a path that is no glob does not exist."""
    if Path(path) == STDIN:
        return [STDIN]
    if not (Path(path).exists() or glob.has_magic(str(path))):
        raise IncparseError(f"{path}: no such file or folder")
    return existing_paths(path)


def unix_lines(text: str) -> str:
    """Return a text whose lines end with a newline alone."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def whole_lines(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines; a file whose only line has CR in it ends its lines with them, as on old systems.

    Slow input is not held back, unless its first line has CR in it.
    """
    remaining = iter(lines)
    first = next(remaining, b"")
    if b"\r" in first.rstrip(b"\r\n"):
        second = next(remaining, None)
        if second is None:
            yield from first.replace(b"\r\n", b"\r").replace(b"\r", b"\n").splitlines(keepends=True)
            return
        yield from (first, second)
    elif first:
        yield first
    yield from remaining


def table_rows(lines: Iterable[str], separator: str) -> Iterator[tuple[int, list[str] | str]]:
    """Yield the rows of a CSV, each with the number of its first line, from 1; what is wrong, for one that is none."""
    csv.field_size_limit(2**31 - 1)
    rows, number = csv.reader(lines, delimiter=separator, strict=True), 1
    while True:
        row: list[str] | str | None
        try:
            row = next(rows, None)
        except csv.Error as error:
            row = f"no row of a table: {error}; in a cell in quotes, quotes are doubled"
        if row is None:
            return
        yield number, row
        number = rows.line_num + 1


def csv_line(cells: Sequence[str]) -> str:
    """Return a row of a CSV, without a newline."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(cells)
    return line.getvalue()


@contextmanager
def lock(folder: Path) -> Iterator[bool]:
    """Lock a folder against other processes, which may still read and write in it; yield False if one has locked it.

    The lock ends with the process, however that ends. Systems without such locks, such as Windows, always yield True.
    """
    try:
        import fcntl

        descriptor = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):
        yield True
        return
    is_free = True
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:  # of another kind, where a file system has no locks
            is_free = not isinstance(error, BlockingIOError)
        yield is_free
    finally:
        os.close(descriptor)


@contextmanager
def removed_when_full(path: Path) -> Iterator[None]:
    """Let a file be written piece by piece; if that fails, as on a full disk, remove it and raise IncparseError."""
    try:
        with named(path):
            yield
    except IncparseError as error:
        if isinstance(error.__context__, OSError) and path.is_file():
            path.unlink()
        raise


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Turn an OSError into an IncparseError that names the file being written."""
    try:
        yield
    except OSError as error:
        advice = "; free some space, or write to another disk" if error.errno in _FULL else ""
        raise IncparseError(f"{path}: cannot be written: {error.strerror or error}{advice}") from None


def release_memory() -> None:
    """Give memory that is no longer used back to the system, which takes some hundredths of a second.

    The C library of Linux keeps what is freed among blocks that are still used, and a process that asks for blocks of
    ever-changing sizes grows. Other C libraries are left alone.
    """
    if sys.platform == "linux" and hasattr(c_library := ctypes.CDLL(None), "malloc_trim"):
        c_library.malloc_trim(0)
