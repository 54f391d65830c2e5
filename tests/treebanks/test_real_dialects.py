"""Real treebanks in dialects of brackets: trees, words and empty categories, as a count of its own finds them."""

import re

import pytest

from spacy_incparse.treebanks.reader import read_trees

ROW = re.compile(r"\| `((?:icon|icepahc|keyaki)/[^`]+)`[^|]*\| (\d+) \| (\d+) \| (\d+) \|")


def figures(path):
    trees = list(read_trees(path))
    tags = [tag for tree in trees for tag in tree.tags]
    n_empty = tags.count("-NONE-")
    return sum(set(tree.tags) != {"-NONE-"} for tree in trees), len(tags) - n_empty, n_empty


@pytest.mark.treebanks
def test_counts(treebanks):
    counts = treebanks / "COUNTS.md"
    if not counts.exists():
        pytest.skip("there is no COUNTS.md")
    rows = ROW.findall(counts.read_text(encoding="utf8"))
    assert len(rows) == 16
    for name, *wanted in rows:
        assert figures(treebanks / name) == tuple(map(int, wanted)), name
