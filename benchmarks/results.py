"""RESULTS.md: a table for each benchmark, with a named row for each measurement.

    python benchmarks/results.py docs/paper_to_code.md docs/accuracy.md     # writes the figures into documents

In documents, figures are in tables between the marks `<!-- results -->` and `<!-- /results -->`. The last column names
the row. If the heading of the column before it names columns of RESULTS.md (`precision / recall / F`), their figures
are written there.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import common

COMMON_COLUMNS = ("seed", "command", "commit", "machine")
BETWEEN = " / "  # separates the figures of a row in one cell of a document
MISSING = "not measured yet"


@dataclass(frozen=True)
class Table:
    """A benchmark's table: its heading in RESULTS.md and the columns between the row's name and the common ones."""

    heading: str
    columns: tuple[str, ...]

    @property
    def header(self) -> str:
        """The first line."""
        return table_line(["row", *self.columns, *COMMON_COLUMNS])


def publish(
    table: Table,
    rows: Mapping[str, Sequence[str]],
    path: Path | None,
    *,
    seed: str = "-",
    argv: Sequence[str] | None = None,
) -> None:
    """Print rows, given by name, and write them to the file, if any; a row of the same name is replaced."""
    shared = _common_cells(seed, argv)
    if path:
        write(table, rows, path, seed=seed, argv=argv)
    for name, cells in rows.items():
        print(name)
        for column, cell in zip((*table.columns, *COMMON_COLUMNS), (*cells, *shared), strict=True):
            print(f"    {column:<24} {cell}", flush=True)


def write(
    table: Table, rows: Mapping[str, Sequence[str]], path: Path, *, seed: str = "-", argv: Sequence[str] | None = None
) -> None:
    """Write rows, given by name, to a file; a row of the same name is replaced."""
    shared = _common_cells(seed, argv)
    lines = {name: table_line([f"`{name}`", *cells, *shared]) for name, cells in rows.items()}
    text = path.read_text(encoding="utf8") if path.exists() else "# Results\n"
    path.write_text(updated(text, table, lines), encoding="utf8")


def updated(text: str, table: Table, lines: Mapping[str, str]) -> str:
    """Return the text with the rows inserted into the table's section; everything else stays the same.

    Old rows are removed if the columns have changed.
    """
    before, heading, behind = f"\n{text}".partition(f"\n## {table.heading}\n")
    section, following, rest = behind.partition("\n## ")
    prose = "\n".join(line for line in section.splitlines() if not line.startswith("|")).strip()
    old = [line for line in section.splitlines() if line.startswith("|")]
    rows = {row_name(line): line for line in old[2:]} if table.header in old[:1] else {}
    separator = table_line(["---"] * (1 + len(table.columns) + len(COMMON_COLUMNS)))
    content = "\n".join([table.header, separator, *(rows | lines).values()])
    new = f"## {table.heading}\n\n{prose}\n\n{content}\n" if prose else f"## {table.heading}\n\n{content}\n"
    start = before.strip("\n") + "\n\n" if before.strip() else ""
    return start + new + following + rest if heading else start + new


def read_rows(text: str) -> dict[str, dict[str, str]]:
    """Return the cells of all rows of RESULTS.md, by name and by column."""
    rows: dict[str, dict[str, str]] = {}
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        header, _, *lines = map(_cells, table.splitlines())
        rows |= {cells[0].strip("`"): dict(zip(header, cells, strict=True)) for cells in lines}
    return rows


def with_figures(document: str, rows: Mapping[str, Mapping[str, str]]) -> str:
    """Return a document with updated figures in its tables of results."""
    return re.sub(
        r"(?<=<!-- results -->)(.*?)(?=<!-- /results -->)",
        lambda block: re.sub(r"(?:^\|.*\n)+", lambda table: _filled(table[0], rows), block[0], flags=re.MULTILINE),
        document,
        flags=re.DOTALL,
    )


def _filled(table: str, rows: Mapping[str, Mapping[str, str]]) -> str:
    header, *others = table.splitlines()
    columns = _cells(header)[-2].split(BETWEEN)
    if not any(set(columns) <= set(row) for row in rows.values()):
        return table
    lines = [header]
    for line in others:
        *cells, _, name = _cells(line)
        row = rows.get(name.strip("`"))
        figures = MISSING if row is None else BETWEEN.join(row[column] for column in columns)
        lines.append(table_line([*cells, figures, name]) if name.startswith("`") else line)
    return "\n".join(lines) + "\n"


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def row_name(line: str) -> str:
    """Return the name of a row of a table."""
    return line.split("|")[1].strip(" `")


def table_line(cells: Sequence[str]) -> str:
    """Return a line of a table."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _common_cells(seed: str, argv: Sequence[str] | None) -> list[str]:
    return [seed, f"`{common.command(argv)}`", common.commit(), common.machine()]


def percent(fraction: float) -> str:
    """Return a fraction as a percentage with two decimal places."""
    return f"{100 * fraction:.2f}"


def spread(values: Sequence[float], form: str = "{:.2f}") -> str:
    """Return the lowest and the highest value."""
    return f"{form.format(min(values))} - {form.format(max(values))}"


if __name__ == "__main__":
    for document in map(Path, sys.argv[1:]):
        found = read_rows(common.RESULTS.read_text(encoding="utf8"))
        document.write_text(with_figures(document.read_text(encoding="utf8"), found), encoding="utf8")
