"""Readers: each turns a file into documents. A new one is an entry in `READERS`."""

from __future__ import annotations

import lzma
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from spacy_incparse.corpora.inputs import (
    Fields,
    InputFile,
    decoded,
    exact_json,
    kind_suffix,
    loaded_json,
    meta_json,
    printable,
)
from spacy_incparse.corpora.parquet import read_parquet
from spacy_incparse.corpora.records import Document, Item, Unreadable
from spacy_incparse.errors import IncparseError, parquet_module

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")  # only an escape can be half a pair: the line itself is valid UTF-8
_DAMAGED = (EOFError, zlib.error, lzma.LZMAError, OSError)


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
    text = decoded(file.read(), file.name, file.name)
    yield Document(file.name, file.name, text) if isinstance(text, str) else text


def read_lines(file: InputFile, fields: Fields) -> Iterator[Item]:
    """Yield each line as a document, unless it is blank; ids are FILE:LINE."""
    for number, text in _lines(file):
        if isinstance(text, Unreadable):
            yield text
        else:
            yield Document(f"{file.name}:{number}", file.name, text.rstrip("\r\n"))


def read_json_lines(file: InputFile, fields: Fields) -> Iterator[Item]:
    """Yield the object on each line as a document; fields other than the text and the id are kept."""
    for number, text in _lines(file):
        yield text if isinstance(text, Unreadable) else _json_document(text, number, file.name, fields)


def _lines(file: InputFile) -> Iterator[tuple[int, str | Unreadable]]:
    """Yield the lines that are not blank, or what cannot be decoded, with their numbers from 1."""
    for number, line in enumerate(file.lines(), start=1):
        text = decoded(line, f"{file.name}:{number}", file.name)
        if isinstance(text, Unreadable) or (text and not text.isspace()):
            yield number, text


def _json_document(line: str, number: int, file: str, fields: Fields) -> Item:
    name = f"{file}:{number}"
    try:
        content = loaded_json(line)
    except ValueError as error:
        return Unreadable(name, file, f"the line is not JSON: {error}")
    if _SURROGATE.search(line) and not all(map(_is_encodable, _strings(content))):
        return Unreadable(name, file, "half a surrogate pair is no character: write both halves")
    if not isinstance(content, dict):
        return Unreadable(name, file, "the line is JSON, but not an object {...}")
    is_null = content.get(fields.text, "") is None
    text, own_id = content.pop(fields.text, None), content.pop(fields.id, None)
    if own_id is not None:
        name = own_id if isinstance(own_id, str) else exact_json(own_id)
    if text is not None and not isinstance(text, str):
        return Unreadable(name, file, f"{fields.text!r} is not a text: {exact_json(text):.60}")
    if is_null:
        return Unreadable(name, file, f"{fields.text!r} is null")
    if text is None:
        return Unreadable(name, file, f"no text in {fields.text!r}; the object has {', '.join(content) or 'nothing'}")
    return Document(name, file, text, meta=meta_json(content))


def _strings(content: Any) -> Iterator[str]:
    """Yield the texts in JSON, however deep they are nested."""
    remaining = [content]
    while remaining:
        one = remaining.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            remaining += [*one, *one.values()]
        elif isinstance(one, list):
            remaining += one


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def read_conllu(file: InputFile, fields: Fields) -> Iterator[Item]:
    """Yield the documents of a file; without `# newdoc`, each sentence is a document.

    The id is that of `# newdoc id`, or else of `# sent_id`, or else FILE:LINE. A document with a malformed line is
    unreadable as a whole.
    """
    collected: list[list[_Line]] = []
    name = ""  # of the document at hand; "" before the first `# newdoc`
    for block in _blocks(file.lines()):
        opened = next((line for _, line in block if line.startswith("# newdoc")), None)
        if opened is not None:
            if collected:
                yield _document(collected, name, file.name)
            collected, name = [block], _value(opened) or f"{file.name}:{block[0][0]}"
        elif name:
            collected.append(block)
        else:
            own = next((line for _, line in block if line.startswith("# sent_id")), "")
            yield _document([block], _value(own) or f"{file.name}:{block[0][0]}", file.name)
    if collected:
        yield _document(collected, name, file.name)


READERS: dict[str, Reader] = {
    reader.name: reader
    for reader in (
        Reader("text", (".txt", ".text"), read_text),
        Reader("lines", (".lines",), read_lines),
        Reader("jsonl", (".jsonl", ".ndjson"), read_json_lines),
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


def check_readers(paths: Iterable[Path], reader: Reader | None) -> None:
    """Raise IncparseError if something that files need is not installed; `reader` is as in `read_files`."""
    for used in {_reader_of(path, reader) for path in paths}:
        used.check()


def read_files(paths: list[Path], reader: Reader | None, fields: Fields) -> Iterator[tuple[Item, int]]:
    """Yield the documents of files, each with how many bytes have been read until now.

    reader: that of all files; None: by their suffixes. What cannot be read is yielded with the reason.
    """
    before = 0
    for path in paths:
        file = InputFile(path)
        for item in _read_file(file, _reader_of(path, reader), fields):
            yield item, before + file.position
        before += file.size


def _reader_of(path: Path, reader: Reader | None) -> Reader:
    return reader or SUFFIXES[kind_suffix(path)]


def _read_file(file: InputFile, reader: Reader, fields: Fields) -> Iterator[Item]:
    try:
        yield from reader.read(file, fields)
    except _DAMAGED as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # a disk's, not a compressed file's
        yield Unreadable(file.name, file.name, f"the rest of the file cannot be read, it is damaged: {error}")


_COLUMNS = 10
_NUMBER = re.compile(r"\d+([-.]\d+)?")  # of a word, a multiword token, or an empty node
_Line = tuple[int, str]  # its number, from 1, and its text
_Word = tuple[str, bool]  # the text, and whether a space follows


class _LineError(ValueError):
    """What is wrong with a line, with its number."""


def _blocks(lines: Iterable[bytes]) -> Iterator[list[_Line]]:
    """Yield the lines between blank lines. What is not UTF-8 is decoded with a mark, and found by `_document`."""
    texts = (line.decode("utf-8-sig", "surrogateescape").rstrip("\r\n") for line in lines)
    for is_blank, block in groupby(enumerate(texts, start=1), lambda line: not line[1].strip()):
        if not is_blank:
            yield list(block)


def _document(blocks: list[list[_Line]], name: str, file: str) -> Item:
    words: list[_Word] = []
    starts: list[bool] = []
    try:
        for block in blocks:
            sentence = list(_words(block))
            words += sentence
            starts += [i == 0 for i in range(len(sentence))]
    except _LineError as error:
        return Unreadable(name, file, str(error))
    text = "".join(word + " " * has_space for word, has_space in words)
    checked = decoded(text.encode("utf8", "surrogateescape"), name, file)
    if isinstance(checked, Unreadable):
        return checked
    return Document(name, file, text, tuple(w for w, _ in words), tuple(s for _, s in words), tuple(starts))


def _words(block: list[_Line]) -> Iterator[_Word]:
    """Yield the words of a sentence; the parts of a multiword token only if they are spelled as it is (do + n't)."""
    numbered = [(number, _columns(number, line)) for number, line in block if not line.startswith("#")]
    numbered = [(number, row) for number, row in numbered if "." not in row[0]]  # without empty nodes
    rows = [row for _, row in numbered]
    i = 0
    while i < len(rows):
        first, dash, last = rows[i][0].partition("-")
        if dash:
            n_parts = int(last) - int(first) + 1
            parts = [row[1] for row in rows[i + 1 : i + 1 + max(n_parts, 0)]]
            if not 0 < n_parts == len(parts):
                number, (token, text, *_) = numbered[i]
                raise _LineError(f"line {number}: the words of the token {token}, {text!r:.40}, are missing")
            shown = parts if "".join(parts) == rows[i][1] else [rows[i][1]]
            yield from ((part, False) for part in shown[:-1])
            yield shown[-1], _has_space(rows[i])
            i += 1 + n_parts
        else:
            yield rows[i][1], _has_space(rows[i])
            i += 1


def _columns(number: int, line: str) -> list[str]:
    columns = line.split("\t")
    if len(columns) != _COLUMNS:
        raise _LineError(f"line {number} has {len(columns)} columns, not {_COLUMNS} separated by tabs")
    if not _NUMBER.fullmatch(columns[0]):
        raise _LineError(f"line {number}: {columns[0]!r} is no number of a word")
    if not columns[1]:
        raise _LineError(f"line {number}: the word is missing")
    return columns


def _has_space(columns: list[str]) -> bool:
    return "SpaceAfter=No" not in columns[-1].split("|")


def _value(comment: str) -> str:
    """Return what follows the equals sign of a comment."""
    return printable(comment.partition("=")[2].strip())
