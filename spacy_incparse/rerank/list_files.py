"""Files of n-best lists, in the formats that docs/formats.md describes."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, TextIO, cast

from spacy_incparse.errors import IncparseError, TreebankError
from spacy_incparse.files import write_file
from spacy_incparse.rerank.bllip_lists import HEADER, read_bllip_lists, write_bllip_list
from spacy_incparse.rerank.bracket_lists import read_bracket_lists, write_bracket_list
from spacy_incparse.rerank.candidate_list import CandidateList
from spacy_incparse.rerank.json_lists import read_json_lists, write_json_list
from spacy_incparse.rerank.list_lines import Line, read_lines
from spacy_incparse.rerank.list_records import ListBuilder, ListRecord, with_gold
from spacy_incparse.treebanks.penn_reader import read_treebank
from spacy_incparse.trees.tree import Tree

LIST_WRITERS: dict[str, Callable[[CandidateList, int], Iterator[str]]] = {
    "json": write_json_list,
    "brackets": write_bracket_list,
    "bllip": write_bllip_list,
}
"""For each format the function from a list and its number, from 1, to the lines that it takes."""


def read_lists(
    path: Path | str, gold: Path | str | Iterable[Tree] | None = None, *, normalized: bool = True
) -> Iterator[CandidateList]:
    """Yield the n-best lists of a file, one at a time; the format is recognized by the first line.

    gold: the gold trees, one for each list, or the treebank that they are read from; they replace those of the file.
    normalized: whether the trees of the file are normalized, as those of treebanks are, so that trees of other parsers
    have the same root and labels.

    Raises TreebankError, with the line, for an unknown format, a malformed or truncated list, trees over different
    words, and gold trees that do not fit.
    """
    path = Path(path)
    builder = ListBuilder(path, normalized=normalized)
    records = _records(path)
    if gold is None:
        yield from map(builder.build, records)
        return
    trees = iter(read_treebank(gold) if isinstance(gold, Path | str) else gold)
    line, n_lists = 1, 0
    for record in records:
        tree = next(trees, None)
        if tree is None:
            what = f"there are more lists than gold trees ({n_lists}); {_ADVICE}"
            raise TreebankError(path, record.line, 1, what)
        record.gold = None
        yield with_gold(builder.build(record), tree, path, record.line)
        line, n_lists = record.line, n_lists + 1
    if next(trees, None) is not None:
        raise TreebankError(path, line, 1, f"there are more gold trees than lists ({n_lists}); {_ADVICE}")


def write_lists(path: Path | str, lists: Iterable[CandidateList], format: str = "json") -> None:
    """Write n-best lists to a file, completely or not at all; the file is gzipped if its name ends in .gz.

    format: "json", "brackets", or "bllip", which has no place for temperatures and gold trees. Raises IncparseError for
    another format, or if the file cannot be written.
    """
    if format not in LIST_WRITERS:
        raise IncparseError(f"unknown format of n-best lists {format!r}: choose from {', '.join(LIST_WRITERS)}")
    path, write = Path(path), LIST_WRITERS[format]

    def write_all(unfinished: Path) -> None:
        with _opened(unfinished, is_gzipped=path.suffix == ".gz") as file:
            for number, found in enumerate(lists, start=1):
                file.writelines(f"{line}\n" for line in write(found, number))

    write_file(path, write_all)


_ADVICE = "there must be one gold tree for each list, in the same order"


def _records(path: Path) -> Iterator[ListRecord]:
    lines = read_lines(path)
    first = next((line for line in lines if line.text and not line.text.isspace()), None)
    if first is None:
        raise TreebankError(path, 1, 1, "the file has no n-best lists; it is empty")
    return _reader(path, first)(path, chain([first], lines))


def _reader(path: Path, first: Line) -> Callable[[Path, Iterable[Line]], Iterator[ListRecord]]:
    """Return the reader of the format to which a file's first line belongs."""
    text = first.text.lstrip()
    if text.startswith("{"):
        return read_json_lists
    if text.startswith(("#", "(")):
        return read_bracket_lists
    if HEADER.fullmatch(text):
        return read_bllip_lists
    raise TreebankError(
        path, first.number, 1,
        f"{text!r:.40} begins no known format of n-best lists; expected JSON lines ('{{'), brackets with scores "
        f"('# sent 1 parse 1 score -41.2') or lists of BLLIP ('50 sent_1')",
    )  # fmt: skip


@contextmanager
def _opened(path: Path, *, is_gzipped: bool) -> Iterator[TextIO]:
    with path.open("wb") as file:
        if not is_gzipped:
            with io.TextIOWrapper(file, encoding="utf8", newline="") as text:
                yield text
            return
        # Neither name nor time in the file, so that the same lists give the same bytes.
        packed = gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0)
        with io.TextIOWrapper(cast("IO[bytes]", packed), encoding="utf8", newline="") as text:
            yield text
