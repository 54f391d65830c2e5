"""Draw the 200 changes of the rules `english` that were read by hand, without any text of the corpus.

    spacy-incparse repair gum/train.mrg --dry-run --report changes.tsv --rules english
    python benchmarks/repair_draw.py changes.tsv gum/documents.tsv repair_draw.tsv

The rule that was added after the draw is left out. Each line has the document and the number of its sentence, from 1,
the rule, and the first and the last word (from 0, the end exclusive), in the order in which they were drawn. The
verdict of the reader and a remark are left empty.
"""

from __future__ import annotations

import argparse
import csv
import random
from collections.abc import Sequence
from pathlib import Path

ADDED_LATER = "wh-noun-phrase-later"
SEED, NUMBER = 0, 200
COLUMNS = ("document", "sentence", "rule", "start", "end", "verdict", "remark")


def main(argv: Sequence[str] | None = None) -> None:
    """Write the draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("report", type=Path, help="of all changes in the train part")
    parser.add_argument("documents", type=Path, help="first tree and number of trees of each document")
    parser.add_argument("output", type=Path)
    arguments = parser.parse_args(argv)
    changes = [row for row in rows(arguments.report) if row["rule"] != ADDED_LATER]
    parts = [
        (row["document"], int(row["first_tree"]), int(row["n_trees"]))
        for row in rows(arguments.documents)
        if row["part"] == "train"
    ]
    lines = ["\t".join(COLUMNS)]
    for change in random.Random(SEED).sample(changes, min(NUMBER, len(changes))):
        document, sentence = place(int(change["tree"]), parts)
        lines.append(f"{document}\t{sentence}\t{change['rule']}\t{change['start']}\t{change['end']}\t\t")
    arguments.output.write_text("".join(f"{line}\n" for line in lines), encoding="utf8")


def rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a file with tabs between its columns."""
    with path.open(encoding="utf8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def place(tree: int, parts: Sequence[tuple[str, int, int]]) -> tuple[str, int]:
    """Return the document of a tree, and its number there; all numbers begin with 1."""
    return next((name, tree - first + 1) for name, first, n in parts if first <= tree < first + n)


if __name__ == "__main__":
    main()
