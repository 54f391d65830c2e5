"""Files that are written whole or not at all, and compressed data that unpacks to no more than it may."""

from __future__ import annotations

import errno
import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from spacy_incparse.errors import IncparseError, ModelError

FREE_BYTES = 2**28  # that any compressed data may unpack to
MAX_RATIO = 100  # of what larger data unpack to: trees and weights shrink to a tenth, what is made to do harm to 1/1000
_FULL = {errno.ENOSPC, errno.EDQUOT} if hasattr(errno, "EDQUOT") else {errno.ENOSPC}


def most_unpacked(n_bytes: int) -> int:
    """Return how much so many compressed bytes may unpack to."""
    return max(FREE_BYTES, MAX_RATIO * n_bytes)


def unzip(data: bytes, what: str, most: int | None = None) -> bytes:
    """Decompress data of zlib; where they are more than `most` bytes, one more than that, and the rest is left.

    `what` begins the error's message, such as "the weights are". Without `most` it is `most_unpacked`, and more of
    it is an error too. Raises ModelError where the data are damaged.
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
    """Decompress a gzipped file; where that gives more than `most` bytes, return one more and leave the rest."""
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        return file.read(most + 1)


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file, which is whole or stays as it was. Raises IncparseError, naming it, where that fails."""
    write_file(path, lambda unfinished: unfinished.write_bytes(data))


def write_file(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` make a file, which is whole or stays as it was; devices and pipes are written as they are.

    Raises IncparseError, naming the file, where that fails.
    """
    is_special = path.exists() and not path.is_file()
    unfinished = path if is_special else path.with_name(f"{path.name}.tmp")
    with named(path):
        try:
            write(unfinished)
            if not is_special:
                unfinished.replace(path.resolve())  # of a link, what it points to
        finally:
            if not is_special:
                unfinished.unlink(missing_ok=True)


@contextmanager
def removed_when_full(path: Path) -> Iterator[None]:
    """Let a file be written bit by bit; it is removed where that fails, as on a full disk, with an IncparseError."""
    try:
        with named(path):
            yield
    except IncparseError as error:
        if isinstance(error.__context__, OSError) and path.is_file():
            path.unlink()
        raise


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Let an OSError be an IncparseError that names the file which is being written."""
    try:
        yield
    except OSError as error:
        advice = "; free some space, or write to another disk" if error.errno in _FULL else ""
        raise IncparseError(f"{path}: cannot be written: {error.strerror or error}{advice}") from None
