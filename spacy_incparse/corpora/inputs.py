"""Find the files of a corpus, open them, compressed or not, and keep count of what has been read."""

from __future__ import annotations

import bz2
import gzip
import json  # srsly's rounds numbers, and cannot read large ones
import lzma
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import srsly

from spacy_incparse.corpora.records import Unreadable
from spacy_incparse.errors import IncparseError
from spacy_incparse.files import named_paths, whole_lines
from spacy_incparse.treebanks.reader import expanded

COMPRESSED = (".gz", ".bz2", ".xz")
_UNPACK: dict[bytes, Callable[[IO[bytes]], IO[bytes]]] = {  # by the first bytes
    b"\x1f\x8b": lambda raw: cast("IO[bytes]", gzip.GzipFile(fileobj=raw)),
    b"BZh": lambda raw: cast("IO[bytes]", bz2.BZ2File(raw)),
    b"\xfd7zXZ\x00": lambda raw: cast("IO[bytes]", lzma.LZMAFile(raw)),  # noqa: SIM115  `InputFile` closes the file in it
}


class InputFile:
    """A file of a corpus, and how many of its bytes have been read."""

    def __init__(self, path: Path):
        self.path, self.name = path, printable(path.as_posix())
        self.position = 0

    def lines(self) -> Iterator[bytes]:
        """Yield the lines of the unpacked file, with their line ends."""
        return whole_lines(self._lines())

    def _lines(self) -> Iterator[bytes]:
        with self._opened() as (raw, file):
            for line in file:
                self.position = self.position + len(line) if file is raw else raw.tell()
                yield line

    def read(self) -> bytes:
        """Return the unpacked content."""
        with self._opened() as (_, file):
            data = file.read()
        self.position = self.size
        return data

    @property
    def size(self) -> int:
        """Its size on disk."""
        return self.path.stat().st_size

    @contextmanager
    def _opened(self) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
        """Open the file as it is, and unpacked; gzip, bzip2 and xz are recognised by content."""
        with self.path.open("rb") as raw:
            start = raw.peek(max(map(len, _UNPACK)))
            unpack = next((unpack for magic, unpack in _UNPACK.items() if start.startswith(magic)), None)
            yield raw, raw if unpack is None else unpack(raw)


def printable(name: str) -> str:
    """Return a name with an escape such as \\udce9 in place of each byte that was not UTF-8."""
    return name.encode("utf8", "backslashreplace").decode("utf8")


def input_files(paths: Sequence[str], suffixes: Collection[str], *, any_suffix: bool = False) -> list[Path]:
    """Return the files for a list of files, folders and globs, without hidden ones.

    suffixes: those of the files in a folder, each also with the suffix of a compressed file. any_suffix: whether a file
    that is named, or found by a glob, may have another one. Raises IncparseError if a path does not exist, has no such
    files, or two paths stand for the same file.
    """
    found = [file for path in paths for file in _expand(path, suffixes, any_suffix)]
    seen: set[Path] = set()
    for file in found:
        if file.resolve() in seen:
            raise IncparseError(f"{file} is given twice, so that its documents would be annotated twice: name it once")
        seen.add(file.resolve())
    return found


def kind_suffix(path: Path) -> str:
    """Return the suffix that says what a file contains: ".jsonl" for a.jsonl.gz."""
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() if suffix in COMPRESSED else suffix


def _expand(path: str, suffixes: Collection[str], any_suffix: bool) -> list[Path]:
    named = named_paths(path)
    files = expanded(named, lambda folder: _in_folder(folder, suffixes))
    if not files:
        raise IncparseError(f"{path}: no file to read; looked for {' '.join(sorted(suffixes))}, also compressed")
    for file in files:
        if not any_suffix and kind_suffix(file) not in suffixes:
            raise IncparseError(
                f"{file}: what it contains cannot be told from its name: say it with --input-format text, lines, ..."
            )
    return files


def _in_folder(folder: Path, suffixes: Collection[str]) -> list[Path]:
    return sorted(
        file
        for file in folder.rglob("*")
        if kind_suffix(file) in suffixes and not any(part.startswith(".") for part in file.relative_to(folder).parts)
        if file.is_file()
    )


@dataclass(frozen=True)
class Fields:
    """The names of the fields of JSON objects and the columns of Parquet files that a document is read from."""

    text: str = "text"
    id: str = "id"


def meta_json(fields: Mapping[str, Any]) -> str:
    """Return the other fields of a document as JSON, which has no infinite numbers: they become null."""
    try:
        return exact_json(fields)
    except ValueError:
        return exact_json(loaded_json(json.dumps(fields)))


def exact_json(content: Any) -> str:
    """Return content as JSON with all its digits. Raises ValueError for infinite numbers."""
    try:
        return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except RecursionError:  # srsly's is not limited so
        return str(srsly.json_dumps(content))


def loaded_json(text: str) -> Any:
    """Return the content of JSON; Infinity and NaN, which other programs write, are null. Raises ValueError."""
    try:
        return json.loads(text, parse_constant=lambda _: None)
    except RecursionError:
        return srsly.json_loads(text)


def decoded(data: bytes, name: str, file: str) -> str | Unreadable:
    """Return UTF-8 as text, without a byte order mark; otherwise what is wrong with the document of this name."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return Unreadable(name, file, f"byte 0x{data[error.start]:02x} at {error.start} is not UTF-8")
