"""The 200 changes that were read by hand: the file that names them."""

import csv
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


def test_none_of_the_drawn_changes_is_wrong():
    assert Counter(row["verdict"] for row in rows(DRAW)) == {"right": 194, "undecidable": 6}


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
