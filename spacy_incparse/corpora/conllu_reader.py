"""Read CoNLL-U: tokens and sentence boundaries are kept; a document begins at `# newdoc`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from spacy_incparse.corpora.input_files import InputFile, printable
from spacy_incparse.corpora.reader_settings import Fields, decoded
from spacy_incparse.corpora.records import Document, Item, Unreadable

_COLUMNS = 10
_NUMBER = re.compile(r"\d+([-.]\d+)?")  # of a word, a multiword token, or an empty node
_Line = tuple[int, str]  # its number, from 1, and its text
_Word = tuple[str, bool]  # the text, and whether a space follows


class _LineError(ValueError):
    """What is wrong with a line, with its number."""


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
