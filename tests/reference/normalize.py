"""The slow twin of treebanks/bracket_scanner.pyx: each step a small function from a tree to a new one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, compress

from spacy_incparse.trees.arrays import TreeArrays
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
    labels, sizes = slices(tree)
    return build([bare_label(label) for label in labels], sizes, tree.words)


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


def slices(tree: Tree) -> tuple[Sequence[str], Sequence[int]]:
    """Return labels and sizes of the nodes from a node down."""
    nodes = slice(tree.index, tree.index + tree.size)
    return tree.arrays.labels[nodes], tree.arrays.sizes[nodes]


def build(labels: Sequence[str], sizes: Sequence[int], words: Sequence[str]) -> Tree:
    """Return the tree with these nodes in pre-order."""
    return Tree(TreeArrays.of(labels, sizes, words))


def keep_nodes(tree: Tree, kept: Sequence[bool]) -> Tree | None:
    """Return the tree without some of its nodes; the children of a phrase that goes move up to its parent.

    kept: a flag for each node from `tree` down; a phrase all of whose words go has to go as well. None where nothing
    is left.
    """
    labels, sizes = slices(tree)
    is_kept_word = (keep for keep, size in zip(kept, sizes, strict=True) if size == 1)
    words = list(compress(tree.words, is_kept_word))
    return build(*compress_nodes(labels, sizes, kept), words) if words else None


def compress_nodes(labels: Sequence[str], sizes: Sequence[int], kept: Sequence[bool]) -> tuple[list[str], list[int]]:
    """Return labels and sizes of the nodes that are kept, sizes counted without the others."""
    n_kept = running_sum(kept)
    new_sizes = [n_kept[i + size] - n_kept[i] for i, size in enumerate(sizes)]
    return list(compress(labels, kept)), list(compress(new_sizes, kept))


def running_sum(flags: Sequence[bool]) -> list[int]:
    """Return how many flags are set before each position, and after the last one."""
    return list(accumulate(flags, initial=0))
