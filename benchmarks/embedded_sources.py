"""Prepare what the embedded English pipelines learn from: trees and text whose licences allow any use.

    python benchmarks/embedded_sources.py SHARED OUT

SHARED has `treebanks/gum` (with `documents.tsv`: genre and first tree of each document), `treebanks/masc`,
`treebanks/craft` and `text`. OUT gets trees repaired by rules and raw text. docs/english.md says what comes next.

| file | what |
|---|---|
| `gold.mrg` | MASC, and the genres of GUM that may be used, without what is held out; and constructed trees |
| `extra/craft.mrg` | CRAFT, without what is held out |
| `teacher.mrg` | for the teacher: `gold.mrg` and a fifth of CRAFT |
| `student.mrg` | for the small neural parser: `gold.mrg` and a third of CRAFT |
| `held-out.mrg` | a twentieth of GUM and of MASC, an eightieth of CRAFT: for the number of passes and temperatures |
| `text.lines` | a sentence on each line, all sources mixed: each beginning has them in proportion |
"""

from __future__ import annotations

import argparse
import csv
import gzip
import random
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from constructed_trees import constructed

import spacy_incparse
from spacy_incparse.repair.repair import find_rules, repair_trees
from spacy_incparse.treebanks.reader import read_treebank
from spacy_incparse.trees.tree import Tree

# By GUM's licence file: CC BY, CC BY-SA, or United Nations text. It names the others as non-commercial, or not at all.
GENRES = frozenset({"academic", "bio", "court", "interview", "news", "speech", "voyage"})
TEXTS = ("masc", "state_union", "inaugural")  # a sentence on each line: any use; public domain
PARAGRAPHS = (  # one on each line: train_embedded.py names their licences
    "voa_gmb", "wikinews", "wikipedia_gap", "wikipedia_qed", "openstax_sociology", "openstax_philosophy",
    "openstax_american_government", "openstax_business_ethics", "openstax_business", "medquad_nih",
    "speeches_presidents", "ewt_train", "fiction_p_g_wodehouse", "fiction_f_scott_fitzgerald", "18f_blog", "digitalgov",
    "tech_opensource_guide", "tech_peps", "dialogue_sgd", "dialogue_taskmaster4", "questions_banking77",
)  # fmt: skip
SEED = 0
STRETCH = 20  # sentences
N_CONSTRUCTED = 500  # trees with speech, as many with money, twice as many with other constructions
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
    masc = repaired(read_treebank(banks / "masc" / "train.mrg"), "english")
    craft = repaired(read_treebank(banks / "craft" / "train.mrg"), "craft")
    gold, more = [*rest(gum, 20, 9), *rest(masc, 20, 9)], rest(craft, 20, 9)
    gold = mixed([*gold, *constructed(gold, N_CONSTRUCTED, SEED)])
    (out / "extra").mkdir(parents=True, exist_ok=True)
    write(out / "gold.mrg", gold)
    write(out / "extra" / "craft.mrg", more)
    write(out / "teacher.mrg", mixed([*gold, *stretches(more, 5, 0)]))
    write(out / "student.mrg", mixed([*gold, *stretches(more, 3, 0)]))
    held_out = [*stretches(gum, 20, 9), *stretches(stretches(craft, 20, 9), 4, 0), *stretches(masc, 20, 9)]
    write(out / "held-out.mrg", held_out)
    texts = given.shared / "text"
    found = [*lines(texts, TEXTS), *sentences(lines(texts, PARAGRAPHS))]
    write(out / "text.lines", mixed([line for line in dict.fromkeys(found) if len(line) <= MAX_CHARACTERS]))


def mixed(items: Sequence[Any]) -> list[Any]:
    """Return the items in random order, always the same."""
    return random.Random(SEED).sample(items, len(items))


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


def lines(folder: Path, names: Iterable[str]) -> list[str]:
    """Return the lines of texts without those that are empty, damaged, or have addresses."""
    texts = [gzip.decompress((folder / f"{name}.txt.gz").read_bytes()).decode("utf8") for name in names]
    found = [CONTRACTION.sub(r"\1’\2", line.strip()) for text in texts for line in text.splitlines()]
    return [line for line in found if line and not UNWANTED.search(line)]


def sentences(paragraphs: Iterable[str]) -> list[str]:
    """Return the sentences that the embedded splitter finds in paragraphs."""
    nlp = spacy_incparse.load("en")
    nlp.select_pipes(enable=["senter"])
    return [" ".join(sentence.text.split()) for doc in nlp.pipe(paragraphs) for sentence in doc.sents]


def write(path: Path, items: Sequence[object]) -> None:
    """Write one item on each line."""
    path.write_text("".join(f"{item}\n" for item in items), encoding="utf8")
    print(f"{path}: {len(items):,} lines", flush=True)


if __name__ == "__main__":
    main()
