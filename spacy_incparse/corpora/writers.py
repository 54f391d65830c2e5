"""Writers: each turns the parsed documents of a shard into files. A new one is an entry in `WRITERS`.

What handles Docs is imported where it is used: a process that only looks up a format need not import spaCy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import srsly

from spacy_incparse.corpora.records import Document
from spacy_incparse.errors import IncparseError, parquet_module

if TYPE_CHECKING:
    from spacy.tokens import Doc


class Parsed(NamedTuple):
    """A parsed document and its number in the corpus."""

    number: int
    document: Document
    doc: Doc


@dataclass(frozen=True)
class Writer:
    """A format of output: the function that returns the files of a shard, by their names in the output folder.

    check: raises IncparseError if something that the format needs is not installed. check_doc: raises any error if a
    Doc cannot be written.
    """

    name: str
    files: Callable[[str, Iterable[Parsed]], dict[str, bytes]]
    check: Callable[[], object] = lambda: None
    check_doc: Callable[[Doc], object] = lambda doc: None


def parquet_files(name: str, parsed: Iterable[Parsed]) -> dict[str, bytes]:
    """Return a table of documents and one of sentences."""
    from spacy_incparse.corpora.parquet import ParquetTables

    tables = ParquetTables()
    for number, document, doc in parsed:
        tables.add(number, document, doc)
    documents, sentences = tables.to_bytes()
    return {f"documents/{name}.parquet": documents, f"sentences/{name}.parquet": sentences}


def json_lines_files(name: str, parsed: Iterable[Parsed]) -> dict[str, bytes]:
    """Return a file with an object for each document, with its sentences."""
    return {f"documents/{name}.jsonl": b"".join(_json_line(item) for item in parsed)}


def bracket_files(name: str, parsed: Iterable[Parsed]) -> dict[str, bytes]:
    """Return a bracket file with one tree per line; a comment before the trees of a document has its id.

    There is no file without trees, which commands that read brackets would take for a mistake.
    """
    documents = [_bracket_lines(item) for item in parsed]
    if not any(trees for _, *trees in documents):
        return {}
    return {f"trees/{name}.mrg": "".join(f"{line}\n" for lines in documents for line in lines).encode()}


def docbin_files(name: str, parsed: Iterable[Parsed]) -> dict[str, bytes]:
    """Return a DocBin with user data: the trees, and "id", "file" and "meta" of the document."""
    from spacy.tokens import DocBin

    docs = DocBin(store_user_data=True)
    for _, document, doc in parsed:
        doc.user_data |= {"id": document.id, "file": document.file, "meta": document.meta}
        docs.add(doc)
    return {f"docs/{name}.spacy": docs.to_bytes()}


WRITERS: dict[str, Writer] = {
    writer.name: writer
    for writer in (
        Writer("parquet", parquet_files, parquet_module),
        Writer("jsonl", json_lines_files),
        Writer("brackets", bracket_files),
        Writer("docbin", docbin_files, check_doc=lambda doc: srsly.msgpack_dumps(doc.user_data)),
    )
}


def find_writer(name: str) -> Writer:
    """Return a writer by name. Raises IncparseError if there is none, or what it needs is not installed."""
    if name not in WRITERS:
        raise IncparseError(f"no output format is called {name!r}; there are {', '.join(WRITERS)}")
    WRITERS[name].check()
    return WRITERS[name]


def _json_line(item: Parsed) -> bytes:
    from spacy_incparse.documents.rows import sentence_rows

    number, document, doc = item
    before = srsly.json_dumps({"document": number, "id": document.id, "file": document.file, "text": doc.text})
    behind = srsly.json_dumps({"sentences": list(sentence_rows(doc))})
    return f'{before[:-1]},"meta":{document.meta},{behind[1:]}\n'.encode()  # its numbers with all their digits


def _bracket_lines(item: Parsed) -> list[str]:
    from spacy_incparse.documents.storage import anchored_trees

    shown = " ".join(item.document.id.split())  # on one line
    return [f"# document {item.number} {shown}", *(str(found.tree) for found in anchored_trees(item.doc))]
