"""Prepare what the embedded English pipelines learn from: trees and text whose licences allow any use.

    python benchmarks/embedded_sources.py SHARED OUT

SHARED has `treebanks/gum` (with `documents.tsv`: genre and first tree of each document), `treebanks/craft` and `text`.
OUT gets trees repaired by rules and raw text. docs/english.md says what comes next.

| file | what |
|---|---|
| `gum.mrg` | GUM, the genres that may be used, without what is held out |
| `extra/craft.mrg` | CRAFT, without what is held out |
| `teacher.mrg` | for the teacher: nine tenths of GUM, twice, and of a third of CRAFT |
| `held-out.mrg` | a twentieth of GUM, an eightieth of CRAFT: for the number of passes and temperatures |
| `text.lines` | a sentence on each line |
"""

from __future__ import annotations

import argparse
import csv
import gzip
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from spacy_incparse.repair.repair import find_rules, repair_trees
from spacy_incparse.treebanks.reader import read_treebank
from spacy_incparse.trees.tree import Tree

# By GUM's licence file: CC BY, CC BY-SA, or United Nations text. It names the others as non-commercial, or not at all.
GENRES = frozenset({"academic", "bio", "court", "interview", "news", "speech", "voyage"})
TEXTS = ("masc", "state_union", "inaugural")  # any use; public domain
STRETCH = 20  # sentences
CONTRACTION = re.compile(r"(\w) ’ (s|t|re|ve|ll|d|m)\b")  # in MASC, some have spaces: isn ’ t
UNWANTED = re.compile(r"�|http|www|@|_{3}|\*{2}")
MAX_CHARACTERS = 400  # of a line of text: what is longer is mostly a list or a table


def main() -> None:
    """Write the files."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("shared", type=Path, help="folder with treebanks and text")
    arguments.add_argument("output", type=Path, help="folder for the files")
    given = arguments.parse_args()
    banks, out = given.shared / "treebanks", given.output
    parts = documents(banks / "gum" / "documents.tsv")
    gum = repaired(allowed(read_treebank(banks / "gum" / "train.mrg"), parts), "english")
    craft = repaired(read_treebank(banks / "craft" / "train.mrg"), "craft")
    (out / "extra").mkdir(parents=True, exist_ok=True)
    write(out / "gum.mrg", rest(gum, 20, 9))
    write(out / "extra" / "craft.mrg", rest(craft, 20, 9))
    write(out / "teacher.mrg", [*2 * rest(gum, 10, 9), *stretches(rest(craft, 10, 9), 3, 0)])
    write(out / "held-out.mrg", [*stretches(gum, 20, 9), *stretches(stretches(craft, 20, 9), 4, 0)])
    write(out / "text.lines", lines(given.shared / "text" / f"{name}.txt.gz" for name in TEXTS))


def repaired(trees: Sequence[Tree], rules: str) -> Sequence[Tree]:
    """Return the trees after repair."""
    return repair_trees(trees, find_rules(rules))[0]


def stretches(trees: Sequence[Tree], n: int, number: int) -> list[Tree]:
    """Return every n-th stretch of 20 sentences, from the one with this number on."""
    return [tree for k, tree in enumerate(trees) if k // STRETCH % n == number]


def rest(trees: Sequence[Tree], n: int, number: int) -> list[Tree]:
    """Return all trees but those of `stretches`."""
    return [tree for k, tree in enumerate(trees) if k // STRETCH % n != number]


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
    """Return the lines of texts without those that are empty, very long, damaged, or have addresses."""
    texts = [gzip.decompress(path.read_bytes()).decode("utf8") for path in paths]
    found = [CONTRACTION.sub(r"\1’\2", line.strip()) for text in texts for line in text.splitlines()]
    return [line for line in found if 0 < len(line) <= MAX_CHARACTERS and not UNWANTED.search(line)]


def write(path: Path, items: Sequence[object]) -> None:
    """Write one item on each line."""
    path.write_text("".join(f"{item}\n" for item in items), encoding="utf8")
    print(f"{path}: {len(items):,} lines", flush=True)


if __name__ == "__main__":
    main()
