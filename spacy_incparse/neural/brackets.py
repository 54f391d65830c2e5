"""Trees as labelled spans, with a chain of phrases over the same words as one label, and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from spacy_incparse.chart.forest import Forest, restored_forest
from spacy_incparse.chart.recurrences import KBest
from spacy_incparse.chart.sentence import span_number
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


# The rules of edges that make no bracket; a bracket's edge has the number of its label.
WORD, MANY, SEQUENCE = -10, -11, -12
_GOAL = -1  # the last node is that of the whole sentence, whatever it is called


def bracket_forest(labels: np.ndarray, values: np.ndarray, n_words: int) -> tuple[Forest, np.ndarray]:
    """Return the forest of a sentence, and the scores of its edges, float64.

    labels: the labels that a bracket over each span may have, integer (n_spans, k), each label once. values: their
    values, (n_spans, k). The time and the memory are in n_words^3.
    """
    nodes: list[np.ndarray] = []
    blocks: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    numbers = np.full((3, n_words + 1, n_words + 1), -1)  # of the nodes M(i, j), I(i, j), S(i, j)
    n_nodes = n_edges = 0
    for length in range(1, n_words + 1):
        starts = np.arange(n_words - length + 1)
        n_labels = labels.shape[1]
        widths = [1 + n_labels, 1] if length == 1 else [length - 1, n_labels, 2]
        n_kinds = len(widths)
        for row, kind in enumerate(range(3 - n_kinds, 3)):
            numbers[kind, starts, starts + length] = n_nodes + n_kinds * starts + row
        block = _block(starts, length, labels, values, numbers)
        firsts = n_edges + sum(widths) * starts[:, None] + np.cumsum([0, *widths[:-1]])
        spans = np.broadcast_to(starts[:, None], firsts.shape)
        nodes.append(np.stack([np.zeros_like(firsts), spans, spans + length, firsts], axis=-1).reshape(-1, 4))
        blocks.append((block[0].reshape(-1), block[1].reshape(-1, 2), block[2].reshape(-1)))
        n_nodes, n_edges = n_nodes + firsts.size, n_edges + block[0].size
    rows = np.concatenate(nodes, dtype=np.int32, casting="unsafe")
    rows[-1, 0] = _GOAL
    rules, children, scores = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    return restored_forest(n_words, rows, rules.astype(np.int32), children.astype(np.int32)), scores


def brackets_of(forest: Forest, edges: np.ndarray) -> list[tuple[int, int, int]]:
    """Return the brackets (start, end, label) that edges make, in their order."""
    rows = forest.edge_array()[edges]
    return [(start, end, label) for label, start, _, end in rows[rows[:, 0] >= 0].tolist()]


def best_trees(
    labels: np.ndarray, values: np.ndarray, n_words: int, k: int
) -> list[tuple[float, list[tuple[int, int, int]]]]:
    """Return the scores of the k best trees and their brackets in pre-order; arguments as in `bracket_forest`."""
    forest, scores = bracket_forest(labels, values, n_words)
    search, found = KBest(forest, scores), []
    for rank in range(k):
        tree = search.tree(rank)
        if tree is None:
            break
        found.append((tree[0], brackets_of(forest, tree[1])))
    return found


def _block(
    starts: np.ndarray, length: int, labels: np.ndarray, values: np.ndarray, numbers: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rules (spans, edges), children (spans, edges, 2) and scores (spans, edges) of all spans of one length."""
    ends = starts + length
    spans = span_number(starts, ends)
    n_spans, n_labels = len(starts), labels.shape[1]
    many, item, _ = (numbers[kind, starts, ends] for kind in range(3))
    splits = starts[:, None] + np.arange(1, length)
    parts = np.stack([numbers[1, starts[:, None], splits], numbers[2, splits, ends[:, None]]], axis=-1)
    below = np.stack([np.repeat(many[:, None], n_labels, 1), np.full((n_spans, n_labels), -1)], axis=-1)
    sequences = [item] if length == 1 else [many, item]
    above = np.stack([np.stack(sequences, axis=1), np.full((n_spans, len(sequences)), -1)], axis=-1)
    word = np.full((n_spans, int(length == 1), 2), -1)
    fixed = np.full((n_spans, length - 1), MANY), np.full((n_spans, word.shape[1]), WORD)
    rules = np.concatenate([*fixed, labels[spans], np.full((n_spans, len(sequences)), SEQUENCE)], axis=1)
    scores = np.zeros(rules.shape)
    first = length - 1 + word.shape[1]
    scores[:, first : first + n_labels] = values[spans]
    return rules, np.concatenate([parts, word, below, above], axis=1), scores
