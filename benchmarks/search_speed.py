"""Measure the speed of tree search: ten patterns on a treebank's train part, against nltk's tgrep in the same run.

The trees are those of the file, unchanged and in memory: as a `Forest`, as Tree objects, and as nltk's ParentedTrees.
Compiling the pattern is part of the time. All must find the same nodes, otherwise the script stops.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import nan
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import common
from results import Table, publish

from spacy_incparse.patterns import Forest, Pattern, compile
from spacy_incparse.treebanks.reader import forest_of, read_text, read_trees
from spacy_incparse.trees.tree import Tree

PATTERNS = (
    "NP < PP", "VP << NP", "S < NP < VP", "NP !< DT", "PP > VP", "NP $. VP", "SBAR << (NP < CD)", "NP <: NN",
    "VP < (VB $.. NP)", "/^W/ > SBAR",
)  # fmt: skip
TABLE = Table(
    "Searching trees",
    ("pattern", "hits", "ratio", "ratio from Trees", "ms", "ms from Trees", "nltk ms", "count ms", "trees/s counted",
     "trees"),
)  # fmt: skip


@dataclass(frozen=True)
class Timed:
    """The time for one pattern, in seconds."""

    pattern: str
    hits: int
    forest: float  # all matches of a forest
    trees: float  # all matches of Tree objects
    nltk: float
    count: float  # of a forest


def main(argv: Sequence[str] | None = None) -> None:
    """Measure all patterns, and print the time for reading the trees."""
    arguments = _arguments(argv)
    path = common.part_path(arguments, arguments.bank, "train")
    trees = list(read_trees(path))[: arguments.limit]
    forest = Forest(trees)
    _print_reading(path, trees, arguments.rounds)
    nltk_trees = [] if arguments.without_nltk else [_to_nltk(tree) for tree in trees]
    measured = [_measure(pattern, forest, trees, nltk_trees, arguments.rounds) for pattern in PATTERNS]
    rows = {f"search-{arguments.bank}": _summary(measured, len(trees))}
    rows |= {f"search-{arguments.bank}-{i}": _cells(row, len(trees)) for i, row in enumerate(measured, start=1)}
    publish(TABLE, rows, common.results_file(arguments), argv=argv)


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = common.argument_parser(__doc__, bank="gum")
    parser.add_argument("--rounds", type=int, default=5, help="the fastest counts; nltk's tgrep runs once")
    parser.add_argument("--without-nltk", action="store_true", help="skip tgrep, which takes minutes")
    return parser.parse_args(argv)


def _measure(pattern: str, forest: Forest, trees: list[Tree], nltk_trees: list[Any], rounds: int) -> Timed:
    """Find the hits in all ways, each starting from the text of the pattern."""

    def best(run: Callable[[Pattern], object]) -> float:
        return min(_seconds(lambda: run(compile(pattern, raw_labels=True))) for _ in range(rounds))

    found: list[list[tuple[int, ...]]] = []
    nltk = _seconds(lambda: found.extend(_tgrep_positions(pattern, nltk_trees))) if nltk_trees else nan
    if nltk_trees and found != _positions(compile(pattern, raw_labels=True), trees):
        raise SystemExit(f"{pattern}: the hits differ from those of tgrep")
    return Timed(
        pattern,
        hits=compile(pattern, raw_labels=True).count(forest),
        forest=best(lambda compiled: list(compiled.search(forest))),
        trees=best(lambda compiled: list(compiled.search(trees))),
        nltk=nltk,
        count=best(lambda compiled: compiled.count(forest)),
    )


def _seconds(run: Callable[[], object]) -> float:
    """Return the CPU time of a run: with one thread, it does not depend on the load of the machine."""
    started = time.process_time()
    run()
    return time.process_time() - started


def _tgrep_positions(pattern: str, trees: list[Any]) -> list[list[tuple[int, ...]]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from nltk.tgrep import tgrep_positions

        return list(tgrep_positions(pattern, trees))


def _to_nltk(tree: Tree) -> Any:
    """Return an nltk.ParentedTree, which tgrep needs."""
    from nltk.tree import ParentedTree

    return ParentedTree.convert(tree.to_nltk())


def _positions(pattern: Pattern, trees: list[Tree]) -> list[list[tuple[int, ...]]]:
    found: list[list[tuple[int, ...]]] = [[] for _ in trees]
    for match in pattern.search(trees):
        path = [0] if match.is_word else []
        node = match.node
        while node.parent is not None:
            path.append(sum(sister.index < node.index for sister in node.parent))
            node = node.parent
        found[match.number].append(tuple(reversed(path)))
    return found


def _cells(row: Timed, n_trees: int) -> list[str]:
    ratios = [f"{row.nltk / row.forest:.0f}", f"{row.nltk / row.trees:.0f}"]
    return _line(f"`{row.pattern}`", [row], ratios, n_trees)


def _summary(measured: Sequence[Timed], n_trees: int) -> list[str]:
    """Return the geometric means of the ratios with their minimum, and the sums of the other columns."""
    ratios = []
    for each in ([row.nltk / row.forest for row in measured], [row.nltk / row.trees for row in measured]):
        ratios.append(f"{geometric_mean(each):.0f} ({min(each):.0f} at least)")
    return _line(f"all {len(measured)}, ratios: geometric mean", measured, ratios, n_trees)


def _line(name: str, rows: Sequence[Timed], ratios: list[str], n_trees: int) -> list[str]:
    seconds = [sum(getattr(row, kind) for row in rows) for kind in ("forest", "trees", "nltk", "count")]
    return [
        name,
        str(sum(row.hits for row in rows)),
        *ratios,
        *(f"{1e3 * time:.1f}" for time in seconds),
        f"{len(rows) * n_trees / seconds[-1]:,.0f}",
        str(n_trees),
    ]


def _print_reading(path: Path, trees: list[Tree], rounds: int) -> None:
    """Print the time for reading the whole file into each form, whatever the limit."""
    ways = {
        "bracket file to Forest": lambda: forest_of(read_text(path), path),
        "bracket file to normalized Forest": lambda: forest_of(read_text(path), path, is_normalized=True),
        "bracket file to Tree objects": lambda: list(read_trees(path)),
        "Tree objects to Forest": partial(Forest, trees),
    }
    for name, run in ways.items():
        print(f"{name}: {1e3 * min(_seconds(run) for _ in range(rounds)):.0f} ms")


if __name__ == "__main__":
    main()
