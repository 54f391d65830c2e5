"""The 200 changes that were read by hand: the file that names them, and the table of docs/repair.md."""

import csv
import re
import runpy
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from spacy_incparse.cli import app

CHECKOUT = Path(__file__).parents[2]
DRAW = CHECKOUT / "docs" / "repair_draw.tsv"


def rows(path):
    with path.open(encoding="utf8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def test_the_table_counts_the_verdicts():
    text = (CHECKOUT / "docs" / "repair.md").read_text(encoding="utf8")
    table = text.partition("| rule | drawn: right |")[2].partition("\n\n")[0]
    counts = {
        name: Counter(dict(zip(("right", "wrong", "undecidable"), map(int, cells), strict=True)))
        for name, *cells in re.findall(r"\| `?([\w-]+).*? \| (\d+) \| (\d+) \| (\d+)", table)
    }
    verdicts = {name: Counter() for name in counts}
    for row in rows(DRAW):
        name = row["rule"] if row["rule"] in counts else "other"  # "other wh-phrases, `wh-question`, `no-wh-word`"
        verdicts[name][row["verdict"]] += 1
        verdicts["total"][row["verdict"]] += 1
    assert len(counts) == 9
    assert verdicts == counts
    assert verdicts["total"].total() == 200


@pytest.mark.treebanks
def test_the_draw_can_be_made_again(treebanks, tmp_path):
    report, gum = tmp_path / "changes.tsv", treebanks / "gum"
    done = CliRunner().invoke(
        app, ["repair", str(gum / "train.mrg"), "--dry-run", "--report", str(report), "--rules", "english"]
    )
    assert done.exit_code == 0, done.output
    draw = runpy.run_path(str(CHECKOUT / "benchmarks" / "repair_draw.py"))["main"]
    draw([str(report), str(gum / "documents.tsv"), str(tmp_path / "draw.tsv")])
    unread = {"verdict": "", "remark": ""}
    assert rows(tmp_path / "draw.tsv") == [row | unread for row in rows(DRAW)]
