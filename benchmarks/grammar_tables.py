"""Table 1 of Collins & Roark (2004) for treebanks: chain types with and without the left-corner transform.

The counts are of chains longer than 2, including tags but not the root (`--with-top` includes it, as the paper does).
The dev part is the held-out part. "round trip" is the number of trees of both parts that the inverse transform does not
restore.
"""

from __future__ import annotations

from collections.abc import Sequence

import common
from results import Table, publish

from spacy_incparse.incremental.coverage import GrammarTable, grammar_table
from spacy_incparse.transforms.left_corner import restore, transform
from spacy_incparse.trees.tree import Tree

TABLE = Table(
    "Grammar tables",
    (
        "types, plain", "seen 2+, plain", "unseen words, plain", "types", "seen 2+", "unseen words",
        "unseen words, rare pruned", "sentences derived", "missing a chain", "missing a triple", "round trip",
    ),
)  # fmt: skip


def main(argv: Sequence[str] | None = None) -> None:
    """Compute one row per treebank."""
    parser = common.argument_parser(__doc__, banks=["wsj", "gum", "craft"])
    parser.add_argument("--with-top", action="store_true", help="count the root as a part of the first word's chain")
    arguments = parser.parse_args(argv)
    rows = {}
    for bank in arguments.banks:
        train, dev = (common.read_part(arguments, bank, part) for part in ("train", "dev"))
        table = grammar_table(train, dev, with_top=arguments.with_top)
        name = f"grammar-{bank}-with-top" if arguments.with_top else f"grammar-{bank}"
        rows[name] = [*_cells(table), str(n_failures([*train, *dev]))]
        print(f"{bank}\n{table.format()}\n", flush=True)
    publish(TABLE, rows, common.results_file(arguments), argv=argv)


def n_failures(trees: Sequence[Tree]) -> int:
    """Return the number of trees that the transform and its inverse do not restore."""
    return sum(restore(transform(tree)) != tree for tree in trees)


def _cells(table: GrammarTable) -> list[str]:
    plain, transformed = table.rows
    coverage = table.coverage[0]
    return [
        *(str(plain.n_types), str(plain.n_repeated_types), _share(plain.unseen)),
        *(str(transformed.n_types), str(transformed.n_repeated_types)),
        *(_share(transformed.unseen), _share(transformed.unseen_pruned)),
        *(f"{share:.1%}" for share in (coverage.derived, coverage.missing_chain, coverage.missing_triple)),
    ]


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.2%}"


if __name__ == "__main__":
    main()
