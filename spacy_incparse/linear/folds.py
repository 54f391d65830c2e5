"""Folds for jackknifing."""

from __future__ import annotations

from collections.abc import Sequence

from spacy_incparse.trees.tree import Tree


def fold_numbers(trees: Sequence[Tree], n_folds: int) -> list[int]:
    """Return the fold of each tree, from 0: contiguous stretches, since sentences of a text help to parse each other.

    Equal sentences all belong to the fold of the first of them, so that no model has seen a sentence of its fold.
    """
    first: dict[tuple[str, ...], int] = {}
    for place, tree in enumerate(trees):
        first.setdefault(tree.words, place * n_folds // len(trees))
    return [first[tree.words] for tree in trees]
