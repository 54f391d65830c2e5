"""Normalization: the steps from a published tree to one that is parsed and scored.

Each step takes a tree and returns a new one, or None if nothing is left of it. The steps of this module are compiled
(bracket_scanner.pyx) and can be mixed with any other functions on trees.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from spacy_incparse.treebanks.bracket_scanner import DROP_EMPTIES, MERGE_DOUBLED, ONE_TOP, STRIP_FUNCTIONS, normalized
from spacy_incparse.trees.forest import Forest
from spacy_incparse.trees.labels import bare_label, function_tags
from spacy_incparse.trees.tree import Tree

Step = Callable[[Tree], "Tree | None"]


def normalize(tree: Tree, steps: Sequence[Step] | None = None) -> Tree | None:
    """Apply the steps, by default STANDARD, in order; return None if nothing is left, as for a tree of traces only."""
    if steps is None:
        return _apply(tree)
    result: Tree | None = tree
    for step in steps:
        if result is None:
            return None
        result = step(result)
    return result


def drop_empties(tree: Tree) -> Tree | None:
    """Drop traces (POS nodes tagged -NONE-) and the phrases that have no other words."""
    return _apply(tree, DROP_EMPTIES)


def strip_functions(tree: Tree) -> Tree:
    """Remove function tags, co-indices and gap indices from all labels: NP-SBJ-1 and NP=2 become NP."""
    return cast("Tree", _apply(tree, STRIP_FUNCTIONS))


def drop_indices(tree: Tree) -> Tree:
    """Remove co-indices and gap indices from all labels, but keep function tags: NP-SBJ-1 becomes NP-SBJ."""
    return tree.map_labels(lambda label: "-".join(filter(None, (bare_label(label), function_tags(label)))), tags=False)


def one_top(tree: Tree) -> Tree:
    """Replace the wrappers of a tree by one root TOP; add it to a tree without a wrapper.

    All wrappers above the first branching are dropped, and below it every phrase labeled TOP or without a label.
    """
    return cast("Tree", _apply(tree, ONE_TOP))


def merge_doubled(tree: Tree) -> Tree:
    """Merge a phrase with its only child if that is a phrase with the same label; POS nodes stay."""
    return cast("Tree", _apply(tree, MERGE_DOUBLED))


STANDARD: tuple[Step, ...] = (drop_empties, strip_functions, one_top, merge_doubled)
WITH_FUNCTIONS: tuple[Step, ...] = (drop_empties, drop_indices, one_top, merge_doubled)


def _apply(tree: Tree, *steps: int) -> Tree | None:
    forest = normalized(Forest([tree]), *steps)
    return forest.tree(0) if len(forest) else None
