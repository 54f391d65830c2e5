"""Readers: each turns a file into documents. A new one is an entry in `READERS`."""

from __future__ import annotations

import bz2
import gzip
import json  # srsly's rounds numbers, and cannot read large ones
import lzma
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import IO, Any, cast

import srsly

from spacy_incparse.corpora.records import Document, Item, Unreadable
from spacy_incparse.errors import IncparseError, parquet_module
from spacy_incparse.files import STDIN, named_paths, table_rows, whole_lines
from spacy_incparse.treebanks.reader import expanded

_UNPACK: dict[bytes, Callable[[IO[bytes]], IO[bytes]]] = {  # by the first bytes
    b"\x1f\x8b": lambda raw: cast("IO[bytes]", gzip.GzipFile(fileobj=raw)),
    b"BZh": lambda raw: cast("IO[bytes]", bz2.BZ2File(raw)),
    b"\xfd7zXZ\x00": lambda raw: cast("IO[bytes]", lzma.LZMAFile(raw)),  # noqa: SIM115  `InputFile` closes the file in it
}


class InputFile:
    """A file of a corpus, and how many of its bytes have been read."""

    def __init__(self, path: Path):
        self.path, self.name, self.size, self.position = path, _printable(path.as_posix()), path.stat().st_size, 0

    def lines(self) -> Iterator[bytes]:
        """Yield the lines of the unpacked file, with their line ends."""
        return whole_lines(self._lines())

    def _lines(self) -> Iterator[bytes]:
        with self.opened() as (raw, file):
            for line in file:
                self.position = self.position + len(line) if file is raw else raw.tell()
                yield line

    @contextmanager
    def opened(self) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
        """Open the file as it is, and unpacked; gzip, bzip2 and xz are recognised by content."""
        with self.path.open("rb") as raw:
            start = raw.peek(max(map(len, _UNPACK)))
            unpack = next((unpack for magic, unpack in _UNPACK.items() if start.startswith(magic)), None)
            yield raw, raw if unpack is None else unpack(raw)


def _printable(name: str) -> str:
    """Return a name with an escape such as \\udce9 in place of each byte that was not UTF-8."""
    return name.encode("utf8", "backslashreplace").decode("utf8")


def input_files(paths: Sequence[str], suffixes: Collection[str], *, any_suffix: bool = False) -> list[Path]:
    """Return the files for a list of files, folders and globs, without hidden ones.

    suffixes: those of the files in a folder, each also with the suffix of a compressed file. any_suffix: whether a file
    that is named, or found by a glob, may have another one. Raises IncparseError if a path does not exist, has no such
    files, or two paths stand for the same file.
    """

    def in_folder(folder: Path) -> list[Path]:
        files = [file for file in folder.rglob("*") if _kind_suffix(file) in suffixes and file.is_file()]
        return sorted(file for file in files if not any(part[0] == "." for part in file.relative_to(folder).parts))

    found: dict[Path, Path] = {}
    for path in paths:
        if Path(path) == STDIN:
            raise IncparseError("standard input (-) cannot be read again when `annotate` goes on: save it in a file")
        files = expanded(named_paths(path), in_folder)
        if not files:
            raise IncparseError(f"{path}: no file to read; looked for {' '.join(sorted(suffixes))}, also compressed")
        for file in files:
            if not any_suffix and _kind_suffix(file) not in suffixes:
                raise IncparseError(
                    f"{file}: what it contains cannot be told from its name: say it with --input-format text, "
                    f"lines, ..."
                )
            if found.setdefault(file.resolve(), file) is not file:
                raise IncparseError(
                    f"{file} is given twice, so that its documents would be annotated twice: name it once"
                )
    return list(found.values())


def _kind_suffix(path: Path) -> str:
    """Return the suffix that says what a file contains: ".jsonl" for a.jsonl.gz."""
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() if suffix in (".gz", ".bz2", ".xz") else suffix


@dataclass(frozen=True)
class Fields:
    """The names of the fields of JSON objects and the columns of Parquet files that a document is read from."""

    text: str = "text"
    id: str = "id"
    separator: str | None = None  # of columns; None: as the file's name says


def _meta_json(fields: Mapping[str, Any]) -> str:
    """Return the other fields of a document as JSON, which has no infinite numbers: they become null."""
    try:
        return _exact_json(fields)
    except ValueError:
        return _exact_json(_loaded_json(json.dumps(fields)))


def _exact_json(content: Any) -> str:
    """Return content as JSON with all its digits. Raises ValueError for infinite numbers."""
    try:
        return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except RecursionError:  # srsly's is not limited so
        return str(srsly.json_dumps(content))


def _loaded_json(text: str) -> Any:
    """Return the content of JSON; Infinity and NaN, which other programs write, are null. Raises ValueError."""
    try:
        return json.loads(text, parse_constant=lambda _: None)
    except RecursionError:
        return srsly.json_loads(text)


def _decoded(data: bytes, name: str, file: str) -> str | Unreadable:
    """Return UTF-8 as text, without a byte order mark; otherwise what is wrong with the document of this name."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return Unreadable(name, file, f"byte 0x{data[error.start]:02x} at {error.start} is not UTF-8")


# All escapes of JSON but those of half a surrogate pair, which only an escape can be: the line itself is valid UTF-8.
_WHOLE = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u(?![dD][89a-fA-F])....|\\[^u]")


@dataclass(frozen=True)
class Reader:
    """A format of input: the suffixes of its files, and the function that reads one of them.

    check: raises IncparseError if something that the format needs is not installed.
    """

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[InputFile, Fields], Iterator[Item]]
    check: Callable[[], object] = lambda: None


def read_text(file: InputFile, fields: Fields) -> Iterator[Item]:
    """Yield the file as one document, whose id is its name."""
    with file.opened() as (_, unpacked):
        text = _decoded(unpacked.read(), file.name, file.name)
    file.position = file.size
    yield Document(file.name, file.name, text) if isinstance(text, str) else text


def read_lines(file: InputFile, fields: Fields) -> Iterator[Item]:
    """Yield each line as a document, unless it is blank; ids are FILE:LINE."""
    for name, text in _lines(file):
        yield text if isinstance(text, Unreadable) else Document(name, file.name, text.rstrip("\r\n"))


def read_json_lines(file: InputFile, fields: Fields) -> Iterator[Item]:
    """Yield the object on each line as a document; fields other than the text and the id are kept."""
    for name, text in _lines(file):
        yield text if isinstance(text, Unreadable) else _json_document(text, name, file.name, fields)


def _lines(file: InputFile) -> Iterator[tuple[str, str | Unreadable]]:
    """Yield the lines that are not blank, or what cannot be decoded, each after its name, which is FILE:LINE."""
    for number, line in enumerate(file.lines(), start=1):
        name = f"{file.name}:{number}"
        text = _decoded(line, name, file.name)
        if isinstance(text, Unreadable) or (text and not text.isspace()):
            yield name, text


def _json_document(line: str, name: str, file: str, fields: Fields) -> Item:
    try:
        content = _loaded_json(line)
    except ValueError as error:
        return Unreadable(name, file, f"the line is not JSON: {error}")
    if "\\u" in line and "\\u" in _WHOLE.sub("", line):
        return Unreadable(name, file, "half a surrogate pair is no character: write both halves")
    if not isinstance(content, dict):
        return Unreadable(name, file, "the line is JSON, but not an object {...}")
    is_null = content.get(fields.text, "") is None
    text, own_id = content.pop(fields.text, None), content.pop(fields.id, None)
    if own_id is not None:
        name = own_id if isinstance(own_id, str) else _exact_json(own_id)
    if isinstance(text, str):
        return Document(name, file, text, meta=_meta_json(content))
    if text is not None:
        return Unreadable(name, file, f"{fields.text!r} is not a text: {_exact_json(text):.60}")
    if is_null:
        return Unreadable(name, file, f"{fields.text!r} is null")
    has = f"no text in {fields.text!r}; the object has {', '.join(content) or 'nothing'}"
    return Unreadable(name, file, f"{has}: name the right field with --text-field")


def read_table(separator: str, file: InputFile, fields: Fields) -> Iterator[Item]:
    """Yield each row below the header as a document; columns other than the text and the id are kept.

    Ids are FILE:LINE where there are none. Raises IncparseError if there is not one column for the text.
    """
    lines = (line.decode("utf-8-sig", "surrogateescape") for line in file.lines())
    rows = table_rows(lines, fields.separator or separator)
    _, header = next(rows, (1, []))
    if isinstance(header, str) or fields.text not in header or len(set(header)) < len(header):
        has = header if isinstance(header, str) else ", ".join(header) or "nothing"
        raise IncparseError(
            f"{file.name}:1: expected a header with different names, one of them {fields.text!r}, not {has!r}: name "
            f"the column with --text-field, and what separates columns with --sep"
        )
    for number, row in rows:
        name = f"{file.name}:{number}"
        if isinstance(row, str) or (row and len(row) != len(header)):
            what = row if isinstance(row, str) else f"{len(row)} cells in a table of {len(header)} columns"
            yield Unreadable(name, file.name, what)
        elif row:
            checked = _decoded("".join(row).encode("utf8", "surrogateescape"), name, file.name)
            cells = dict(zip(header, row, strict=True))
            yield checked if isinstance(checked, Unreadable) else _table_document(cells, name, file.name, fields)


_COLUMNS = 10
_NUMBER = re.compile(r"\d+([-.]\d+)?")  # of a word, a multiword token, or an empty node
_Line = tuple[int, str]  # its number, from 1, and its text
_Word = tuple[str, bool]  # the text, and whether a space follows


def read_conllu(file: InputFile, fields: Fields) -> Iterator[Item]:
    """Yield the documents of a file; without `# newdoc`, each sentence is a document.

    The id is that of `# newdoc id`, or else of `# sent_id`, or else FILE:LINE; ids of sentences are kept as `sent_ids`.
    A document with a malformed line is unreadable as a whole.
    """
    # What is not UTF-8 is decoded with a mark, and found by `_document`.
    lines = (line.decode("utf-8-sig", "surrogateescape").rstrip("\r\n") for line in file.lines())
    collected: list[list[_Line]] = []
    name = ""  # of the document at hand; "" before the first `# newdoc`
    for is_blank, block in groupby(enumerate(lines, start=1), lambda line: not line[1].strip()):
        if is_blank:
            continue
        sentence = list(block)
        place, newdoc = f"{file.name}:{sentence[0][0]}", _value(sentence, "# newdoc")
        if newdoc is not None:
            if collected:
                yield _document(collected, name, file.name)
            collected, name = [sentence], newdoc or place
        elif name:
            collected.append(sentence)
        else:
            yield _document([sentence], _value(sentence, "# sent_id") or place, file.name)
    if collected:
        yield _document(collected, name, file.name)


def _value(sentence: list[_Line], key: str) -> str | None:
    """Return what follows the equals sign of a comment; None if there is no such comment."""
    comment = next((line for _, line in sentence if line.startswith(key)), None)
    return None if comment is None else _printable(comment.partition("=")[2].strip())


def _document(sentences: list[list[_Line]], name: str, file: str) -> Item:
    found: list[_Word] = []
    starts: list[bool] = []
    try:
        for sentence in sentences:
            found += _words(sentence)
            starts += [i == 0 for i in range(len(found) - len(starts))]
    except ValueError as error:
        return Unreadable(name, file, str(error))
    text = "".join(word + " " * has_space for word, has_space in found)
    checked = _decoded(text.encode("utf8", "surrogateescape"), name, file)
    if isinstance(checked, Unreadable):
        return checked
    names = [_value(one, "# sent_id") or None for one in sentences]
    words, spaces = zip(*found, strict=True) if found else ((), ())
    return Document(
        name, file, text, words, spaces, tuple(starts), _meta_json({"sent_ids": names} if any(names) else {})
    )


def _words(sentence: list[_Line]) -> Iterator[_Word]:
    """Yield the words of a sentence; the parts of a multiword token only if they are spelled as it is (do + n't)."""
    numbered = [(number, _columns(number, line)) for number, line in sentence if not line.startswith("#")]
    numbered = [(number, row) for number, row in numbered if "." not in row[0]]  # without empty nodes
    rows = [row for _, row in numbered]
    i = 0
    while i < len(rows):
        shown, n_parts = [rows[i][1]], 0
        first, dash, last = rows[i][0].partition("-")
        if dash:
            n_parts = int(last) - int(first) + 1
            parts = [row[1] for row in rows[i + 1 : i + 1 + max(n_parts, 0)]]
            if not 0 < n_parts == len(parts):
                number, (token, text, *_) = numbered[i]
                raise ValueError(f"line {number}: the words of the token {token}, {text!r:.40}, are missing")
            shown = parts if "".join(parts) == rows[i][1] else shown
        yield from ((part, False) for part in shown[:-1])
        yield shown[-1], "SpaceAfter=No" not in rows[i][-1].split("|")
        i += 1 + n_parts


def _columns(number: int, line: str) -> list[str]:
    columns = line.split("\t")
    if len(columns) != _COLUMNS:
        raise ValueError(f"line {number} has {len(columns)} columns, not {_COLUMNS} separated by tabs")
    if not _NUMBER.fullmatch(columns[0]):
        raise ValueError(f"line {number}: {columns[0]!r} is no number of a word")
    if not columns[1]:
        raise ValueError(f"line {number}: the word is missing")
    return columns


_ROWS = 1000  # at a time


def read_parquet(file: InputFile, fields: Fields) -> Iterator[Item]:
    """Yield each row as a document; columns of texts, numbers and truth values are kept as its other fields.

    Ids are those of the column for ids, of any type, or else FILE:ROW. A row with texts that are not UTF-8 is
    unreadable. Raises IncparseError if there is no column for the text.
    """
    parquet = parquet_module()
    try:
        table = parquet.ParquetFile(file.path)
    except ValueError as error:  # pyarrow's own are ValueErrors
        yield Unreadable(file.name, file.name, f"the file is not Parquet, or is damaged: {error}")
        return
    import pyarrow

    schema, types = table.schema_arrow, pyarrow.types
    kept = (types.is_string, types.is_large_string, types.is_integer, types.is_floating, types.is_boolean)
    kinds = {one.name: one.type.value_type if types.is_dictionary(one.type) else one.type for one in schema}
    names = [name for name, kind in kinds.items() if any(test(kind) for test in kept)]
    if fields.text not in names:
        raise IncparseError(
            f"{file.name}: there is no column {fields.text!r} with texts (it has {', '.join(names) or 'no plain ones'}"
            f"): name the right one with --text-field"
        )
    if fields.id in schema.names and fields.id not in names:
        names.append(fields.id)
    number, batches = 0, table.iter_batches(batch_size=_ROWS, columns=names)
    while True:
        try:
            batch = next(batches, None)
        except ValueError as error:
            yield Unreadable(file.name, file.name, f"the rest of the file cannot be read, it is damaged: {error}")
            return
        if batch is None:
            return
        for row in _rows(batch):
            number += 1
            file.position = file.size * number // table.metadata.num_rows
            yield _table_document(row, f"{file.name}:{number}", file.name, fields)


def _rows(batch: Any) -> Iterator[dict[str, Any] | str]:
    """Yield the rows of a batch, or why one cannot be read."""
    try:
        yield from batch.to_pylist()
    except UnicodeDecodeError:
        for number in range(batch.num_rows):
            try:
                yield from batch.slice(number, 1).to_pylist()
            except UnicodeDecodeError as error:
                yield f"a text is not UTF-8: {error}"


def _table_document(row: dict[str, Any] | str, name: str, file: str, fields: Fields) -> Item:
    if isinstance(row, str):
        return Unreadable(name, file, row)
    text, own_id = row.pop(fields.text), row.pop(fields.id, None)
    if isinstance(own_id, bytes):
        own_id = own_id.decode("utf8", "backslashreplace")
    name = name if own_id in (None, "") else str(own_id)
    if not isinstance(text, str):
        return Unreadable(name, file, f"no text in the column {fields.text!r}: it is {text!r:.40}")
    return Document(name, file, text, meta=_meta_json(row))


READERS: dict[str, Reader] = {
    reader.name: reader
    for reader in (
        Reader("text", (".txt", ".text"), read_text),
        Reader("lines", (".lines",), read_lines),
        Reader("jsonl", (".jsonl", ".ndjson"), read_json_lines),
        Reader("csv", (".csv",), partial(read_table, ",")),
        Reader("tsv", (".tsv",), partial(read_table, "\t")),
        Reader("conllu", (".conllu",), read_conllu),
        Reader("parquet", (".parquet",), read_parquet, parquet_module),
    )
}
SUFFIXES = {suffix: reader for reader in READERS.values() for suffix in reader.suffixes}


def find_reader(name: str) -> Reader | None:
    """Return a reader by name; None for "auto". Raises IncparseError if there is none of this name."""
    if name != "auto" and name not in READERS:
        raise IncparseError(f"no input format is called {name!r}; there are auto, {', '.join(READERS)}")
    return READERS.get(name)


def reader_of(path: Path, reader: Reader | None) -> Reader:
    """Return the reader of all files, or else that of a file, by its suffix."""
    return reader or SUFFIXES[_kind_suffix(path)]


def read_files(paths: Iterable[Path], reader: Reader | None, fields: Fields) -> Iterator[tuple[Item, int]]:
    """Yield the documents of files, each with how many bytes have been read until now.

    reader: that of all files; None: by their suffixes. What cannot be read is yielded with the reason.
    """
    before = 0
    for path in paths:
        file = InputFile(path)
        try:
            for item in reader_of(path, reader).read(file, fields):
                yield item, before + file.position
        except (EOFError, zlib.error, lzma.LZMAError, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # a disk's, not a compressed file's
            reason = f"the rest of the file cannot be read, it is damaged: {error}"
            yield Unreadable(file.name, file.name, reason), before + file.position
        before += file.size
