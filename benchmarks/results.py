"""results.tsv: what the benchmarks printed, a named row for each measurement; docs/results.md shows the main ones.

    python benchmarks/results.py     # writes the figures of results.tsv into docs/results.md and README.md

In these documents, figures are in tables between the marks `<!-- results -->` and `<!-- /results -->`. The last column
names the row, and the heading of the column before it the figures (`precision / recall / F`).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import common

COLUMNS = ("row", "table", "seed", "command", "commit", "machine", "figures")
DOCUMENTS = (common.CHECKOUT / "README.md", common.CHECKOUT / "docs" / "results.md")
BETWEEN = " / "  # separates the figures of a row in one cell of a document
MISSING = "not measured yet"


@dataclass(frozen=True)
class Table:
    """A benchmark's table: its name in results.tsv and the names of its figures."""

    heading: str
    columns: tuple[str, ...]


def publish(
    table: Table,
    rows: Mapping[str, Sequence[str]],
    path: Path | None,
    *,
    seed: str = "-",
    argv: Sequence[str] | None = None,
) -> None:
    """Print rows, given by name, and write them to the file, if any; a row of the same name is replaced."""
    if path:
        write(table, rows, path, seed=seed, argv=argv)
    for name, cells in rows.items():
        print(name)
        for column, cell in zip(table.columns, cells, strict=True):
            print(f"    {column:<24} {cell}", flush=True)


def write(
    table: Table, rows: Mapping[str, Sequence[str]], path: Path, *, seed: str = "-", argv: Sequence[str] | None = None
) -> None:
    """Write rows, given by name, to a file; a row of the same name is replaced, and goes to the end of its table."""
    origin = {"seed": seed, "command": common.command(argv), "commit": common.commit(), "machine": common.machine()}
    found = read_rows(path) if path.exists() else {}
    for name, cells in rows.items():
        figures = "; ".join(f"{column}={cell}" for column, cell in zip(table.columns, cells, strict=True))
        found[name] = {"row": name, "table": table.heading, **origin, "figures": figures}
    text = io.StringIO()
    lines = csv.DictWriter(
        text, COLUMNS, dialect="excel-tab", lineterminator="\n", quoting=csv.QUOTE_NONE, quotechar=None
    )
    lines.writeheader()
    lines.writerows(found.values())
    path.write_text(text.getvalue(), encoding="utf8")


def read_rows(path: Path) -> dict[str, dict[str, str]]:
    """Return the rows of results.tsv, each by its name, and its cells by the names of the columns."""
    with path.open(encoding="utf8", newline="") as file:
        rows = csv.DictReader(file, dialect="excel-tab", quoting=csv.QUOTE_NONE)
        return {row["row"]: row for row in rows}


def figures_of(row: Mapping[str, str]) -> dict[str, str]:
    """Return the figures of a row by their names."""
    return dict(figure.split("=", 1) for figure in row["figures"].split("; "))  # type: ignore[arg-type]


def with_figures(document: str, rows: Mapping[str, Mapping[str, str]]) -> str:
    """Return a document with the figures of these rows in its tables of results."""
    return re.sub(
        r"(?<=<!-- results -->)(.*?)(?=<!-- /results -->)",
        lambda block: re.sub(r"(?:^\|.*\n)+", lambda table: _filled(table[0], rows), block[0], flags=re.MULTILINE),
        document,
        flags=re.DOTALL,
    )


def _filled(table: str, rows: Mapping[str, Mapping[str, str]]) -> str:
    """Return a table with its figures, each under the name in the heading."""
    header, separator, *others = table.splitlines()
    columns = _cells(header)[-2].split(BETWEEN)
    lines = [header, separator]
    for line in others:
        *cells, _, name = _cells(line)
        row = rows.get(name.strip("`"))
        found = {} if row is None else figures_of(row)
        cells += [BETWEEN.join(found.get(column, MISSING) for column in columns), name]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def percent(fraction: float) -> str:
    """Return a fraction as a percentage with two decimal places."""
    return f"{100 * fraction:.2f}"


def spread(values: Sequence[float], form: str = "{:.2f}") -> str:
    """Return the lowest and the highest value."""
    return f"{form.format(min(values))} - {form.format(max(values))}"


def main() -> None:
    """Write the figures into the documents."""
    rows = read_rows(common.RESULTS)
    for document in DOCUMENTS:
        document.write_text(with_figures(document.read_text(encoding="utf8"), rows), encoding="utf8")


if __name__ == "__main__":
    main()
