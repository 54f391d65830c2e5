import gzip
import importlib
import sys
from pathlib import Path
from unittest.mock import patch

import pytest

from spacy_incparse.trees.tree import Tree

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture(scope="module")
def load():
    with patch.object(sys, "path", [str(FOLDER), *sys.path]):
        yield importlib.import_module


def trees(n, words="rain"):
    return [Tree.from_string(f"(TOP (S (NP (NN {words}{k})) (VP (VBZ falls))))") for k in range(n)]


def test_only_genres_that_may_be_used(load, tmp_path):
    sources = load("embedded_sources")
    table = tmp_path / "documents.tsv"
    rows = ["train\ta\tnews\t1\t2", "dev\tb\tnews\t1\t3", "train\tc\twhow\t3\t1", "train\td\tbio\t4\t2"]
    table.write_text("\n".join(["part\tdocument\tgenre\tfirst_tree\tn_trees", *rows]) + "\n", encoding="utf8")
    found = sources.allowed(trees(6), sources.documents(table))
    assert [tree.words[0] for tree in found] == ["rain0", "rain1", "rain3", "rain4"]


def test_what_is_held_out_is_not_learned_from(load):
    sources = load("embedded_sources")
    given = trees(1000)
    held_out, rest = sources.stretches(given, 20, 9), sources.rest(given, 20, 9)
    assert [tree.words[0] for tree in held_out[:2]] == ["rain180", "rain181"]
    assert len(held_out) == 3 * 20  # stretches 9, 29 and 49 of 50
    assert len(held_out) + len(rest) == 1000
    assert not {tree.words for tree in rest} & {tree.words for tree in held_out}
    teacher = sources.rest(given, 10, 9)
    assert not {tree.words for tree in teacher} & {tree.words for tree in held_out}


def test_lines_of_text_are_mended_or_left_out(load, tmp_path):
    path = tmp_path / "text.txt.gz"
    lines = [
        "It isn ’ t far .",
        "",
        "See www.example.org.",
        "A dam\N{REPLACEMENT CHARACTER}ged line",
        "x" * 500,
        "She’s here.",
    ]
    path.write_bytes(gzip.compress("\n".join(lines).encode("utf8")))
    assert load("embedded_sources").lines([path]) == ["It isn’t far .", "She’s here."]


def test_parsed_trees_with_holes_are_left_out(load, capsys):
    good = Tree.from_string("(TOP (S (NP (NN rain)) (VP (VBZ falls) (PP (IN on) (NP (NN rain))))))")
    hole = Tree.from_string("(TOP (S (NP (NN rain)) (VP (VBZ falls) (IN on) (NP (NN rain)))))")
    unknown = Tree.from_string("(TOP (S (NP (NN rain)) (VP (VBG falling))))")
    assert load("train_embedded").usual([good] * 3, [good, hole, unknown, good]) == [good, good]
    assert "2 of 4 parsed trees" in capsys.readouterr().out
