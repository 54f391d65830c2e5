"""Normalisation: from a tree as published to what is parsed and scored, as a composed list of small functions.

Each step takes a tree and returns a new one, or None where nothing is left of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from spacy_incparse.trees.edits import build, compress_nodes, keep_nodes, map_labels, running_sum, slices
from spacy_incparse.trees.labels import bare_label
from spacy_incparse.trees.tree import Tree

Step = Callable[[Tree], "Tree | None"]

TRACE_TAG = "-NONE-"
ROOT = "TOP"
WRAPPERS = frozenset(["", "ROOT", "TOP", "VROOT", "S1"])


def normalize(tree: Tree, steps: Sequence[Step] | None = None) -> Tree | None:
    """Apply the steps, by default STANDARD, in their order; None where nothing is left, as of a tree of traces only."""
    result: Tree | None = tree
    for step in STANDARD if steps is None else steps:
        if result is None:
            return None
        result = step(result)
    return result


def drop_empties(tree: Tree) -> Tree | None:
    """Drop traces, that is POS nodes tagged -NONE-, and the phrases that have no other words."""
    if TRACE_TAG not in tree.arrays.labels:
        return tree
    labels, sizes = slices(tree)
    n_words = running_sum([size == 1 and label != TRACE_TAG for label, size in zip(labels, sizes, strict=True)])
    return keep_nodes(tree, [n_words[i + size] > n_words[i] for i, size in enumerate(sizes)])


def strip_functions(tree: Tree) -> Tree:
    """Cut function tags, co-indices and gap indices off all labels: NP-SBJ-1 and NP=2 become NP."""
    return map_labels(tree, bare_label)


def one_top(tree: Tree) -> Tree:
    """Give the tree one root TOP in place of its wrappers; a tree without a wrapper gets one.

    All of the nodes above the first branching that are wrappers go, and below it whatever is labelled TOP or nothing.
    """
    labels, sizes = slices(tree)
    n_wrappers = 0
    while labels[n_wrappers] in WRAPPERS and sizes[n_wrappers] > 1 and sizes[n_wrappers] + n_wrappers == len(labels):
        n_wrappers += 1
    kept = [
        i >= n_wrappers and (size == 1 or label not in ("", ROOT))
        for i, (label, size) in enumerate(zip(labels, sizes, strict=True))
    ]
    labels, sizes = compress_nodes(labels, sizes, kept)
    return build([ROOT, *labels], [1 + len(labels), *sizes], tree.words)


def merge_doubled(tree: Tree) -> Tree:
    """Make one node of a phrase over a single phrase with the same label; POS nodes stay."""
    labels, sizes = slices(tree)
    keep = [True] + [
        sizes[i] == 1 or sizes[i - 1] != sizes[i] + 1 or labels[i - 1] != labels[i] for i in range(1, len(labels))
    ]
    return build(*compress_nodes(labels, sizes, keep), tree.words)


STANDARD: tuple[Step, ...] = (drop_empties, strip_functions, one_top, merge_doubled)
