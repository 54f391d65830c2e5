"""The journal: each accepted action is a line on disk before anybody sees it, and replaying them gives all trees."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from zlib import crc32

from spacy_incparse.errors import IncparseError
from spacy_incparse.files import lock, named

FORMAT = "spacy-incparse journal 1"


class Journal:
    """An append-only file of JSON objects, one a line, each after its checksum; locked against other processes.

    A line that a crash has cut is dropped when the file is opened again: it was never acknowledged. Raises
    IncparseError if another process has the file open, if it is no journal, or damaged before its last line.
    """

    def __init__(self, path: Path):
        self.path, self._stack = path, ExitStack()
        with named(path):
            self._file = self._stack.enter_context(path.open("ab", buffering=0))
        if not self._stack.enter_context(lock(path)):
            self.close()
            raise IncparseError(f"{path} is open in another workbench: one file is edited by one server at a time")
        try:
            self.records, n_whole = self._read()
            with named(path):
                self._file.truncate(n_whole)
            if not self.records:
                self.append({"format": FORMAT})
        except BaseException:
            self.close()
            raise

    def _read(self) -> tuple[list[dict[str, Any]], int]:
        """Return the records, and the number of bytes that they take."""
        data, records, n_whole = self.path.read_bytes(), list[dict[str, Any]](), 0
        for number, line in enumerate(data.splitlines(keepends=True), start=1):
            record = _decoded(line)
            if record is None:
                if n_whole + len(line) < len(data):
                    raise IncparseError(f"{self.path}:{number}: the line is damaged: {line[:60]!r}; restore the file")
                break
            records.append(record)
            n_whole += len(line)
        if not (_line({"format": FORMAT}).startswith(data) if not records else records[0].get("format") == FORMAT):
            raise IncparseError(f"{self.path}: this is no journal of the workbench: rename the file")
        return records, n_whole

    def append(self, record: Mapping[str, Any]) -> None:
        """Write a record to the disk; when this returns, it will survive a crash. Raises IncparseError if it fails."""
        line = _line(record)
        with named(self.path):
            begin = os.fstat(self._file.fileno()).st_size
            try:
                if self._file.write(line) != len(line):
                    raise OSError("only a part of a line could be written")
                os.fsync(self._file.fileno())
            except BaseException:
                self._file.truncate(begin)  # the action is refused: nothing of it stays
                raise

    def close(self) -> None:
        """Close the file, and free it for others."""
        self._stack.close()


def _line(record: Mapping[str, Any]) -> bytes:
    text = json.dumps(record, ensure_ascii=True, separators=(",", ":")).encode()
    return b"%08x %s\n" % (crc32(text), text)


def _decoded(line: bytes) -> dict[str, Any] | None:
    """Return the record of a line; None if the line is not whole."""
    mark, _, text = line.rstrip(b"\n").partition(b" ")
    if not line.endswith(b"\n") or mark != b"%08x" % crc32(text):
        return None
    found = json.loads(text)
    return found if isinstance(found, dict) else None


def journal_path(target: Path) -> Path:
    """Return the journal of a file: beside it, wherever a link to it is."""
    target = target.resolve()
    return target.with_name(f"{target.name}.journal")
