"""Write the training and the dev part of a treebank as bracket files.

python ../prepare.py TREEBANK corpus --every 10
python ../prepare.py TRAIN corpus --dev DEV

TREEBANK is a file, folder or glob as published, in any format that spacy-incparse reads. Without --dev, every tenth
file is dev, or every tenth tree if there are fewer than ten files.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from spacy_incparse import Tree
from spacy_incparse.errors import IncparseError
from spacy_incparse.treebanks.reader import read_treebank, treebank_files


def main() -> None:
    """Write both parts."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("treebank")
    arguments.add_argument("output", type=Path)
    arguments.add_argument("--dev", default="", help="the dev part, if the treebank has one")
    arguments.add_argument("--every", type=int, default=10, metavar="N", help="each N-th file or tree is dev")
    arguments.add_argument("--dialect", default="", help="how brackets are read; default: as they look")
    given = arguments.parse_args()
    try:
        parts = split(given.treebank, given.dev, given.every, given.dialect)
    except IncparseError as error:
        raise SystemExit(str(error)) from None
    given.output.mkdir(parents=True, exist_ok=True)
    for name, trees in zip(("train", "dev"), parts, strict=True):
        path = given.output / f"{name}.mrg"
        path.write_text("".join(f"{tree}\n" for tree in trees), encoding="utf8")
        print(f"{path}: {len(trees):,} trees, {sum(len(tree.words) for tree in trees):,} words")


def split(treebank: str, dev: str, every: int, dialect: str = "") -> tuple[Sequence[Tree], Sequence[Tree]]:
    """Return the training and the dev trees, normalized."""
    read = partial(read_treebank, dialect=dialect or None)
    if dev:
        return read(treebank), read(dev)
    files = treebank_files(treebank)
    if len(files) >= every:
        chosen = files[every - 1 :: every]
        return read([file for file in files if file not in chosen]), read(chosen)
    trees = read(treebank)
    return [tree for number, tree in enumerate(trees, 1) if number % every], trees[every - 1 :: every]


if __name__ == "__main__":
    main()
