"""Trees as labelled spans, with a chain of phrases over the same words as one label, and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.builder import tree_of_phrases
from spacy_incparse.trees.labels import ROOT
from spacy_incparse.trees.tree import Tree

Chain = tuple[str, ...]
"""The labels of all phrases over the same words, from the top down."""

Bracket = tuple[int, int, Chain]
"""The first word, one after the last word, and the phrases over them."""


def chain_brackets(arrays: TreeArrays) -> list[Bracket]:
    """Return the brackets of a tree in pre-order, without the root TOP and the POS nodes."""
    found: list[Bracket] = []
    for label, start, end, size in zip(arrays.labels, arrays.starts, arrays.ends, arrays.sizes, strict=True):
        if size == 1 or (label == ROOT and not found):
            continue
        if found and found[-1][:2] == (start, end):
            found[-1] = start, end, (*found[-1][2], label)
        else:
            found.append((start, end, (label,)))
    return found


def tree_of_brackets(brackets: Iterable[Bracket], words: Sequence[str], tags: Sequence[str]) -> Tree:
    """Return the tree with these brackets, given in pre-order, under the root TOP; the inverse of `chain_brackets`."""
    phrases = ((label, start, end) for start, end, chain in brackets for label in chain)
    return tree_of_phrases([(ROOT, 0, len(words)), *phrases], words, tags)


def chains_of(trees: Iterable[Tree]) -> tuple[Chain, ...]:
    """Return all chains of phrases in some trees, sorted."""
    return tuple(sorted({chain for tree in trees for _, _, chain in chain_brackets(tree.arrays)}))
