"""Prepare what the embedded English pipelines learn from: trees and text whose licences allow any use.

    python benchmarks/embedded_sources.py SHARED OUT

SHARED has `treebanks/gum` (with `documents.tsv`: genre and first tree of each document), `treebanks/craft` and `text`.
OUT gets `gum.mrg` and `craft.mrg`, repaired by rules, and `text.lines`, a sentence on each line. See docs/english.md.
"""

from __future__ import annotations

import argparse
import csv
import gzip
from collections.abc import Iterable, Sequence
from pathlib import Path

from spacy_incparse.repair.repairing import repair_trees
from spacy_incparse.repair.rule_files import find_rules
from spacy_incparse.treebanks.penn_reader import read_treebank
from spacy_incparse.trees.tree import Tree

# By GUM's licence file: CC BY, CC BY-SA, or United Nations text. It names the others as non-commercial, or not at all.
GENRES = frozenset({"academic", "bio", "court", "interview", "news", "speech", "voyage"})
TEXTS = ("masc", "state_union", "inaugural")  # any use; public domain
MAX_CHARACTERS = 400  # of a line of text: what is longer is mostly a list or a table


def main() -> None:
    """Write the three files."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("shared", type=Path, help="folder with treebanks and text")
    arguments.add_argument("output", type=Path, help="folder for the files")
    given = arguments.parse_args()
    banks = given.shared / "treebanks"
    gum = allowed(read_treebank(banks / "gum" / "train.mrg"), documents(banks / "gum" / "documents.tsv"))
    given.output.mkdir(parents=True, exist_ok=True)
    write(given.output / "gum.mrg", repair_trees(gum, find_rules("english"))[0])
    craft = read_treebank(banks / "craft" / "train.mrg")
    write(given.output / "craft.mrg", repair_trees(craft, find_rules("craft"))[0])
    write(given.output / "text.lines", lines(given.shared / "text" / f"{name}.txt.gz" for name in TEXTS))


def documents(path: Path) -> list[tuple[str, int, int]]:
    """Return the genre, the first tree (from 0) and the number of trees of each document of GUM's train part."""
    with path.open(encoding="utf8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t")
        return [
            (row["genre"], int(row["first_tree"]) - 1, int(row["n_trees"])) for row in rows if row["part"] == "train"
        ]


def allowed(trees: Sequence[Tree], parts: Iterable[tuple[str, int, int]]) -> list[Tree]:
    """Return the trees of documents whose genre may be used."""
    return [tree for genre, first, n in parts if genre in GENRES for tree in trees[first : first + n]]


def lines(paths: Iterable[Path]) -> list[str]:
    """Return the lines of texts that are neither empty nor very long."""
    found = [line.strip() for path in paths for line in gzip.open(path, "rt", encoding="utf8")]
    return [line for line in found if 0 < len(line) <= MAX_CHARACTERS]


def write(path: Path, items: Sequence[object]) -> None:
    """Write one item on each line."""
    path.write_text("".join(f"{item}\n" for item in items), encoding="utf8")
    print(f"{path}: {len(items):,} lines", flush=True)


if __name__ == "__main__":
    main()
