"""Real treebanks in dialects of brackets: trees, words and empty categories, as a count of its own finds them."""

import re

import pytest

from spacy_incparse.treebanks.dialects import Dialects
from spacy_incparse.treebanks.reader import read_trees

ROW = re.compile(r"\| `((?:icon|icepahc|keyaki)/[^`]+)`[^|]*\| (\d+) \| (\d+) \| (\d+) \|")
# Two trees of one file have a bracket as a word, `(grm \()`; who takes it for a bracket finds 4,498 trees.
GREYNIR = 4500, 87010, 0
MASC = {"sw2014-UTF16-ms98-a-trans.mrg": 184, "sw2025-ms98-a-trans.ascii-1-NEW.mrg": 268, "20000410_nyt-NEW.mrg": 2}


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


@pytest.mark.treebanks
def test_the_icelandic_news(treebanks):
    folder = treebanks / "greynir"
    if not folder.exists():
        pytest.skip("there is no greynir")
    assert figures(folder) == GREYNIR


@pytest.mark.treebanks
def test_mark_up_of_masc_is_left_out(treebanks):
    if not (treebanks / "masc" / "raw").exists():
        pytest.skip("there is no masc/raw")
    for name, n_nodes in MASC.items():
        told = []
        trees = list(read_trees(treebanks / "masc" / "raw" / name, dialect=Dialects(None, told.append)))
        assert f" {n_nodes} nodes of mark-up left out" in told[0]
        leaves = {(tag, word) for tree in trees for tag, word in zip(tree.tags, tree.words, strict=True)}
        assert not {tag for tag, _ in leaves} & {"CODE", "SU"}
        assert not {word for tag, word in leaves if tag in (".", "XX")} & {"/", "/-"}
