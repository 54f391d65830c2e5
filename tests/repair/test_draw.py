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


def rules():
    with DRAW.open(encoding="utf8", newline="") as file:
        return Counter(row["rule"] for row in csv.DictReader(file, delimiter="\t"))


def test_the_table_counts_what_was_drawn():
    text = (CHECKOUT / "docs" / "repair.md").read_text(encoding="utf8")
    table = text.partition("| rule | drawn: right |")[2].partition("\n\n")[0]
    counts = {
        name: sum(map(int, cells)) for name, *cells in re.findall(r"\| `([\w-]+)` \| (\d+) \| (\d+) \| (\d+)", table)
    }
    assert len(counts) == 7
    found = rules()
    assert {name: found.pop(name) for name in counts} == counts
    assert sum(found.values()) == 3  # "other wh-phrases, `wh-question`, `no-wh-word`"
    assert sum(rules().values()) == 200


@pytest.mark.treebanks
def test_the_draw_can_be_made_again(treebanks, tmp_path):
    report, gum = tmp_path / "changes.tsv", treebanks / "gum"
    done = CliRunner().invoke(
        app, ["repair", str(gum / "train.mrg"), "--dry-run", "--report", str(report), "--rules", "english"]
    )
    assert done.exit_code == 0, done.output
    draw = runpy.run_path(str(CHECKOUT / "benchmarks" / "repair_draw.py"))["main"]
    draw([str(report), str(gum / "documents.tsv"), str(tmp_path / "draw.tsv")])
    assert (tmp_path / "draw.tsv").read_text(encoding="utf8") == DRAW.read_text(encoding="utf8")
