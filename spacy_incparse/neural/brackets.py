"""Trees as brackets, whose label is a chain of phrases over the same words: back and forth, forests of them, losses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any

import numpy as np
from thinc.api import Ops

from spacy_incparse.chart.charts import span_number
from spacy_incparse.chart.forest import Forest, restored_forest
from spacy_incparse.chart.recurrences import KBest
from spacy_incparse.neural.bracket_chart import best_brackets, bracket_marginals
from spacy_incparse.neural.span_scorer import SpanScores
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
        rules, children, scores = _block(starts, length, labels, values, numbers)
        firsts = n_edges + sum(widths) * starts[:, None] + np.cumsum([0, *widths[:-1]])
        spans = np.broadcast_to(starts[:, None], firsts.shape)
        nodes.append(np.stack([np.zeros_like(firsts), spans, spans + length, firsts], axis=-1).reshape(-1, 4))
        blocks.append((rules.reshape(-1), children.reshape(-1, 2), scores.reshape(-1)))
        n_nodes, n_edges = n_nodes + firsts.size, n_edges + rules.size
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
    return [(score, brackets_of(forest, edges)) for score, edges in islice(KBest(forest, scores), k)]


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


Loss = Callable[[np.ndarray, int, np.ndarray], tuple[float, np.ndarray]]
"""A loss is one of a sentence's span scores, with its gradient. `scores[s, l]` is the score of label l over span s,
float32 (n_spans, n_labels), spans as in `bracket_chart`; no label scores 0. `gold` has the rows (span, label) of the
gold tree.

- "max-margin" (Taskar et al. 2004; Stern et al. 2017, section 3.2): how far the best tree, with 1 added for each wrong
  and for each missing bracket, is above the gold tree. The gradient has as many entries as the trees have brackets.
- "crf" (Finkel et al. 2008): the log loss of the gold tree among all trees; the gradient is the difference between the
  probabilities of brackets and the gold ones.
- "local": the sum over spans of the log loss of the span's label among all labels and none, whatever the other spans.
"""
"""From the scores, the number of words and the gold rows to the loss and the derivatives by the scores."""


def max_margin_loss(scores: np.ndarray, n_words: int, gold: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the structured hinge loss; 0 if the gold tree wins by at least its distance from every other tree."""
    spans, labels = gold[:, 0], gold[:, 1]
    rivals = scores + np.float32(1)
    rivals[spans, labels] -= 2  # a gold bracket is not wrong, and without it, one is missing
    best = rivals.argmax(axis=1)
    score, chosen = best_brackets(rivals[np.arange(len(best)), best].astype(np.float64), n_words)
    loss = score + len(gold) - float(scores[spans, labels].sum(dtype=np.float64))
    gradient = np.zeros_like(scores)
    gradient[chosen, best[chosen]] += 1
    gradient[spans, labels] -= 1
    return max(loss, 0.0), gradient


def crf_loss(scores: np.ndarray, n_words: int, gold: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the log loss of the gold tree."""
    spans, labels = gold[:, 0], gold[:, 1]
    log_z, gradient = label_marginals(scores, n_words)
    gradient[spans, labels] -= 1
    return log_z - float(scores[spans, labels].sum(dtype=np.float64)), gradient


def local_loss(scores: np.ndarray, n_words: int, gold: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the sum of the log losses of all spans."""
    spans, labels = gold[:, 0], gold[:, 1]
    highest = np.maximum(scores.max(axis=1), 0)
    shares = np.exp(scores - highest[:, None])
    totals = shares.sum(axis=1) + np.exp(-highest)
    loss = float((highest + np.log(totals)).sum(dtype=np.float64) - scores[spans, labels].sum(dtype=np.float64))
    shares /= totals[:, None]
    shares[spans, labels] -= 1
    return loss, shares


LOSSES: dict[str, Loss] = {"crf": crf_loss, "local": local_loss, "max-margin": max_margin_loss}


def label_marginals(scores: np.ndarray, n_words: int) -> tuple[float, np.ndarray]:
    """Return log Z and the probability of each label over each span: float32 (n_spans, n_labels)."""
    highest = scores.max(axis=1)
    shares = np.exp(scores - highest[:, None])
    totals = shares.sum(axis=1)
    log_z, brackets = bracket_marginals(highest.astype(np.float64) + np.log(totals), n_words)
    shares *= (brackets / totals).astype(shares.dtype)[:, None]
    return log_z, shares


def total_loss(
    trees: Sequence[Tree], scores: SpanScores, ops: Ops, loss: Loss, chains: Sequence[Chain], tags: Sequence[str],
    tag_weight: float,
) -> tuple[float, SpanScores]:  # fmt: skip
    """Return the sum of the losses of sentences' span scores and tag scores, and its derivatives by the scores.

    chains, tags: the labels, by number. A gold bracket or tag that is not among them is left out. tag_weight: of the
    tags' log loss; 0: tags are not learned.
    """
    numbers, tag_numbers = ({name: number for number, name in enumerate(names)} for names in (chains, tags))
    labels = ops.to_numpy(scores.labels)
    gradient, total, first = np.zeros_like(labels), 0.0, 0
    for tree in trees:
        n_words = len(tree.words)
        rows = slice(first, first + n_words * (n_words + 1) // 2)
        brackets = [(span_number(i, j), numbers[c]) for i, j, c in chain_brackets(tree.arrays) if c in numbers]
        one, gradient[rows] = loss(labels[rows], n_words, np.array(brackets, np.int64).reshape(-1, 2))
        total, first = total + one, rows.stop
    gold = np.array([tag_numbers.get(tag, -1) for tree in trees for tag in tree.tags], np.int64)
    words, of_words = np.flatnonzero(gold >= 0), ops.to_numpy(scores.tags)
    logs = of_words - np.logaddexp.reduce(of_words, axis=1, keepdims=True)
    of_tags: Any = np.exp(logs)
    of_tags[words, gold[words]] -= 1
    of_tags[gold < 0] = 0
    of_tags *= np.float32(tag_weight)
    total -= tag_weight * float(logs[words, gold[words]].sum())
    return total, SpanScores(ops.asarray2f(gradient), ops.asarray2f(of_tags), scores.lengths)
