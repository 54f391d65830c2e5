"""Repaired treebanks: the parts that benchmarks/README.md names stay as they are, and the changes that were read."""

import csv
import hashlib
import re
import runpy
from collections import Counter
from pathlib import Path

import pytest

from spacy_incparse.cli.treebank import find_all_rules, repair

CHECKOUT = Path(__file__).parents[2]
DRAW = CHECKOUT / "docs" / "repair_draw.tsv"
ROW = re.compile(r"\| (\w+) dev \| `(\w+)` \| ([\d,]+) \| .* \| `([0-9a-f]{64})` \|")
FROZEN = ROW.findall((CHECKOUT / "benchmarks" / "README.md").read_text(encoding="utf-8"))


def test_both_parts_are_frozen():
    assert [row[:2] for row in FROZEN] == [("gum", "english"), ("craft", "craft")]


@pytest.mark.treebanks
@pytest.mark.parametrize(("bank", "rules", "n_changes", "sha256"), FROZEN, ids=[row[0] for row in FROZEN])
def test_frozen_parts(treebanks, tmp_path, capsys, bank, rules, n_changes, sha256):
    output, report = tmp_path / "dev.mrg", tmp_path / "changes.tsv"
    repair(str(treebanks / bank / "dev.mrg"), output, find_all_rules([rules]), report)
    assert len(report.read_text(encoding="utf-8").splitlines()) - 1 == int(n_changes.replace(",", ""))
    assert hashlib.sha256(output.read_bytes()).hexdigest() == sha256


def rows(path):
    with path.open(encoding="utf8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def test_none_of_the_drawn_changes_is_wrong():
    assert Counter(row["verdict"] for row in rows(DRAW)) == {"right": 194, "undecidable": 6}


@pytest.mark.treebanks
@pytest.mark.slow
def test_the_draw_can_be_made_again(treebanks, tmp_path, capsys):
    report, gum = tmp_path / "changes.tsv", treebanks / "gum"
    repair(str(gum / "train.mrg"), None, find_all_rules(["english"]), report)
    draw = runpy.run_path(str(CHECKOUT / "benchmarks" / "repair_draw.py"))["main"]
    draw([str(report), str(gum / "documents.tsv"), str(tmp_path / "draw.tsv")])
    unread = {"verdict": "", "remark": ""}
    assert rows(tmp_path / "draw.tsv") == [row | unread for row in rows(DRAW)]
