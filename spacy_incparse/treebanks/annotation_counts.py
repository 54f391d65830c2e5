"""Counting how a treebank annotates: productions, unary chains, parents of tags, tags and parents of words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.edits import JOINT
from spacy_incparse.trees.tree import Tree

NO_CHAIN = "-"  # the chain above a node that is not an only child


class Decision(NamedTuple):
    """What annotators decide in a context, such as the children of an NP, or the parent of a WDT."""

    context: str
    outcome: str


def count_decisions(trees: Iterable[Tree], kind: str) -> Counter[Decision]:
    """Count the decisions of a kind, which is a key of `KINDS`, in normalized trees."""
    decisions = KINDS[kind]
    return Counter(decision for tree in trees for decision in decisions(tree.own_arrays))


def _productions(arrays: TreeArrays) -> Iterator[Decision]:
    """Yield for each phrase its label, and the labels of its children."""
    children: list[list[str]] = [[] for _ in arrays.sizes]
    for label, parent in zip(arrays.labels[1:], arrays.parents[1:], strict=True):
        children[parent].append(label)
    for label, below in zip(arrays.labels, children, strict=True):
        if below:
            yield Decision(label, " ".join(below))


def _unary_chains(arrays: TreeArrays) -> Iterator[Decision]:
    """Yield for each POS node or branching phrase its label, and the labels of the phrases that cover nothing else.

    The chain is written from the top, without the root, as `collapse_unaries` writes it.
    """
    chain: list[str] = []
    for i in range(1, len(arrays.sizes)):
        label, size = arrays.labels[i], arrays.sizes[i]
        if size > 1 and arrays.sizes[i + 1] == size - 1:
            chain.append(label)
        else:
            yield Decision(label, JOINT.join(chain) or NO_CHAIN)
            chain = []


def _parents_of_tags(arrays: TreeArrays) -> Iterator[Decision]:
    """Yield for each word its tag, and the label of the phrase above."""
    for leaf in arrays.leaves:
        if leaf > 0:
            yield Decision(arrays.labels[leaf], arrays.labels[arrays.parents[leaf]])


def _places_of_words(arrays: TreeArrays) -> Iterator[Decision]:
    """Yield for each word, in lower case, its tag and the label of the phrase above."""
    for word, leaf in zip(arrays.words, arrays.leaves, strict=True):
        if leaf > 0:
            yield Decision(word.lower(), f"{arrays.labels[leaf]} in {arrays.labels[arrays.parents[leaf]]}")


KINDS: dict[str, Callable[[TreeArrays], Iterator[Decision]]] = {
    "production": _productions,
    "chain": _unary_chains,
    "tag": _parents_of_tags,
    "word": _places_of_words,
}
"""What is counted, by name."""
