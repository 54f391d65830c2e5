"""Read the stimuli of `measures`: sentences of a text, or of a table whose other columns are kept."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from spacy_incparse.cli.options import decoded
from spacy_incparse.errors import IncparseError
from spacy_incparse.files import unix_lines
from spacy_incparse.treebanks.treebank_files import read_text

TEXT = "text"  # the column of a .tsv with the sentences
STDIN = "-"


@dataclass(frozen=True)
class Stimulus:
    """A sentence, and the cells of its row in the input."""

    text: str
    cells: tuple[str, ...] = ()


def read_stimuli(path: Path) -> tuple[list[Stimulus], tuple[str, ...]]:
    """Return the sentences of a .txt or .tsv, which may be gzipped, and the names of the other columns.

    Standard input ("-") has one sentence per line. Raises IncparseError naming file and line.
    """
    is_stdin = str(path) == STDIN
    kind = ".txt" if is_stdin else Path(path.name.lower().removesuffix(".gz")).suffix
    if kind not in (".txt", ".tsv"):
        raise IncparseError(
            f"{path}: stimuli must be a .txt (one sentence per line) or a .tsv (with a column {TEXT!r})"
        )
    text = "\n".join(decoded(sys.stdin.buffer, STDIN)) if is_stdin else read_text(path)
    lines = unix_lines(text).split("\n")
    if kind == ".tsv":
        stimuli, header = _read_table(lines, str(path))
    else:
        _check_no_table(lines, str(path))
        stimuli, header = [Stimulus(line) for line in lines if line.strip()], ()
    if not stimuli:
        raise IncparseError(f"{path}: the file contains no sentences")
    return stimuli, header


def _check_no_table(lines: Sequence[str], name: str) -> None:
    """Raise IncparseError if the lines are a table, as Excel writes it to a .txt: its cells are no sentences."""
    if TEXT in _Quotes.of(lines[:1]).split(lines[0]) and "\t" in lines[0]:
        raise IncparseError(f"{name}:1: this is the header of a table: save it in a file whose name ends in .tsv")


def _read_table(lines: Sequence[str], name: str) -> tuple[list[Stimulus], tuple[str, ...]]:
    quotes = _Quotes.of(lines)
    header = quotes.split(lines[0])
    if TEXT not in header:
        found = ", ".join(header) if lines[0].strip() else "nothing"
        raise IncparseError(
            f"{name}:1: the header has no column {TEXT!r} (it has {found}): use this name for the column with the "
            f"sentences, and separate columns by tabs"
        )
    if header.count(TEXT) > 1:
        raise IncparseError(f"{name}:1: two columns have the name {TEXT!r}: rename the one without the sentences")
    place = header.index(TEXT)
    stimuli = []
    for number, line in enumerate(lines[1:], start=2):
        if not line.strip():
            continue
        row = quotes.split(line)
        if len(row) != len(header):
            hint = _hint(line, lines[number - 2], len(row) - len(header))
            raise IncparseError(f"{name}:{number}: {len(row)} cells in a table of {len(header)} columns{hint}")
        if not row[place].strip():
            raise IncparseError(f"{name}:{number}: the column {TEXT!r} is empty: add a sentence, or delete the row")
        stimuli.append(Stimulus(row[place], row))
    return stimuli, header


def _hint(line: str, line_before: str, n_more: int) -> str:
    """Return what may be wrong with a line that has more cells than the header, or fewer, or one in two lines."""
    if (line.count('"') % 2) or (line_before.count('"') % 2):
        return "; a cell in quotes must end on the same line"
    if n_more == 1:
        return "; if R wrote the table, pass row.names = FALSE there, and no cell may have a tab in it"
    return "; no cell may have a tab in it" if n_more > 0 else ""


@dataclass(frozen=True)
class _Quotes:
    """The rule for which quotes around cells belong to the table, and not to the sentence.

    all_cells: all quotes, including the header's, as R writes tables. commas: quotes around cells that contain a comma,
    as Excel writes them; if some cell with a comma has no quotes, they belong to the sentence. Otherwise, only quotes
    around cells with doubled quotes inside, as Excel and pandas write cells with quotes.
    """

    all_cells: bool
    commas: bool

    @classmethod
    def of(cls, lines: Sequence[str]) -> _Quotes:
        with_comma = [cell for line in lines for cell in line.split("\t") if "," in cell]
        return cls(lines[0].startswith('"'), all(map(_is_wrapped, with_comma)))

    def split(self, line: str) -> tuple[str, ...]:
        """Return the cells of a line without the table's quotes."""
        return tuple(map(self._stripped, line.split("\t")))

    def _stripped(self, cell: str) -> str:
        inside = cell[1:-1]
        if len(cell) < 2 or not cell[0] == cell[-1] == '"':
            return cell
        if self.all_cells:
            return re.sub(r'["\\]"', '"', inside)
        is_tables = _is_wrapped(cell) and ('""' in inside or ("," in inside and self.commas))
        return inside.replace('""', '"') if is_tables else cell


def _is_wrapped(cell: str) -> bool:
    """Return whether a cell is in quotes and all quotes inside it, if any, are doubled."""
    return len(cell) > 1 and cell[0] == cell[-1] == '"' and '"' not in cell[1:-1].replace('""', "")
