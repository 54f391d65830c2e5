"""Repaired treebanks: the parts that benchmarks/README.md names stay as they are."""

import hashlib
import re
from pathlib import Path

import pytest

from spacy_incparse.cli.treebank import find_all_rules, repair

CHECKOUT = Path(__file__).parents[2]
ROW = re.compile(r"\| (\w+) dev \| `(\w+)` \| ([\d,]+) \| .* \| `([0-9a-f]{64})` \|")
FROZEN = ROW.findall((CHECKOUT / "benchmarks" / "README.md").read_text(encoding="utf-8"))


@pytest.mark.treebanks
@pytest.mark.parametrize(("bank", "rules", "n_changes", "sha256"), FROZEN, ids=[row[0] for row in FROZEN])
def test_frozen_parts(treebanks, tmp_path, capsys, bank, rules, n_changes, sha256):
    output, report = tmp_path / "dev.mrg", tmp_path / "changes.tsv"
    repair(str(treebanks / bank / "dev.mrg"), output, find_all_rules([rules]), report)
    assert len(report.read_text(encoding="utf-8").splitlines()) - 1 == int(n_changes.replace(",", ""))
    assert hashlib.sha256(output.read_bytes()).hexdigest() == sha256
