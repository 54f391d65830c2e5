"""The dev parts that models are evaluated on stay as they were frozen: docs/training.md has the same hashes."""

import hashlib
import re
from pathlib import Path

import pytest

from spacy_incparse.cli.treebank import find_all_rules, repair

DOCS = Path(__file__).parents[2] / "docs" / "training.md"
ROW = re.compile(r"\| (\w+) dev \| `(\w+)` \| ([\d,]+) \| .* \| `([0-9a-f]{64})` \|")
FROZEN = ROW.findall(DOCS.read_text(encoding="utf-8"))


def test_both_parts_are_frozen():
    assert [row[:2] for row in FROZEN] == [("gum", "english"), ("craft", "craft")]


@pytest.mark.treebanks
@pytest.mark.parametrize(("bank", "rules", "n_changes", "sha256"), FROZEN, ids=[row[0] for row in FROZEN])
def test_frozen_parts(treebanks, tmp_path, capsys, bank, rules, n_changes, sha256):
    output, report = tmp_path / "dev.mrg", tmp_path / "changes.tsv"
    repair(str(treebanks / bank / "dev.mrg"), output, find_all_rules([rules]), report)
    assert len(report.read_text(encoding="utf-8").splitlines()) - 1 == int(n_changes.replace(",", ""))
    assert hashlib.sha256(output.read_bytes()).hexdigest() == sha256
