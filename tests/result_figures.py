"""Figures in documents, against the rows of RESULTS.md that they were taken from."""

import re
from pathlib import Path

RESULTS = Path(__file__).parents[1] / "benchmarks" / "RESULTS.md"


def result_rows(text: str) -> list[tuple[str, str]]:
    """Return (figure, name of its row in RESULTS.md), the last two columns of a document's tables of results."""
    tables = re.findall(r"<!-- results -->(.*?)<!-- /results -->", text, re.DOTALL)
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in "".join(tables).splitlines()
        if line[:1] == "|"
    ]
    return [(row[-2], row[-1].strip("`")) for row in cells if row[-1][:1] == "`"]


def missing_figures(figure: str, row: str) -> list[str]:
    """Return the numbers of a figure that are not in the row of that name in RESULTS.md."""
    lines = [
        line
        for line in RESULTS.read_text(encoding="utf8").splitlines()
        if f"`{row}`" in line or line.startswith(f"| {row} |")
    ]
    return [number for number in re.findall(r"\d[\d,.]*\d|\d", figure) if not any(number in line for line in lines)]
