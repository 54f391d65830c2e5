"""Measure how many local trees of a pipeline its training has never seen: a phrase's label with those of its children.

    python benchmarks/local_trees.py TEXT TREES [TREES ...] --models en

TEXT has a sentence on each line, and is none of what was parsed for the training; TREES are all trees of the training,
files or folders. Local trees with more than two children are left out: of these, many are new in any text.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import common
from results import Table, percent, publish
from saved_pipeline import open_pipeline, short_name
from train_embedded import read_folder

from spacy_incparse.parsing.local_trees import MOST_CHILDREN, local_trees, local_trees_of
from spacy_incparse.treebanks.reader import read_treebank

TABLE = Table("Local trees that training has not seen", ("%", "local trees", "lines"))
LINES = 1000  # the last ones of the text


def main(argv: Sequence[str] | None = None) -> None:
    """Count them in the parses of the last lines of a text."""
    parser = common.argument_parser(__doc__)
    parser.add_argument("text", type=Path)
    parser.add_argument("trees", type=Path, nargs="+")
    parser.add_argument("--models", nargs="+", default=["en"])
    arguments = parser.parse_args(argv)
    trees = [tree for path in arguments.trees for tree in (read_folder(path) if path.is_dir() else read_treebank(path))]
    seen = local_trees_of(trees)
    lines = arguments.text.read_text(encoding="utf8").splitlines()[-LINES:]
    rows = {}
    for model in arguments.models:
        parsed = [tree for doc in open_pipeline(model).pipe(lines) for tree in doc._.trees if tree is not None]
        found = [local for tree in parsed for local in local_trees(tree.spans(), tree.tags)]
        small = [local for local in found if len(local) <= 1 + MOST_CHILDREN]
        share = percent(sum(local not in seen for local in small) / len(small))
        rows[f"local-trees-{short_name(model)}"] = [share, f"{len(small):,}", str(len(lines))]
    publish(TABLE, rows, common.results_file(arguments), argv=argv)


if __name__ == "__main__":
    main()
