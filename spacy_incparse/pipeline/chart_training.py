"""What a batch of examples teaches the component `incparse_chart`: gold trees as rows, losses and gradients."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from spacy.training import Example
from thinc.api import Ops

from spacy_incparse.chart.forests.span_numbers import span_number
from spacy_incparse.chart.spans.chain_labels import Chain, chain_brackets
from spacy_incparse.chart.spans.span_losses import Loss
from spacy_incparse.documents.gold_trees import gold_sentences
from spacy_incparse.pipeline.span_head import SpanScores
from spacy_incparse.pipeline.span_scorer import CutDocs
from spacy_incparse.trees.tree import Tree


@dataclass(frozen=True)
class GoldBatch:
    """Whole Docs with the tokens of their gold sentences, and the gold trees in the same order."""

    docs: CutDocs
    trees: list[Tree]


def gold_batch(examples: Iterable[Example], max_length: int) -> GoldBatch:
    """Return the gold trees of examples with at most `max_length` words."""
    docs, cuts, trees = [], [], []
    for example in examples:
        doc = example.predicted
        words: Sequence[int] = range(len(doc))
        if any(token.is_space for token in doc):
            words = [token.i for token in doc if not token.is_space]
        found = [(first, tree) for first, tree in gold_sentences(example).trees if len(tree.words) <= max_length]
        docs.append(doc)
        cuts.append([words[first : first + len(tree.words)] for first, tree in found])
        trees += [tree for _, tree in found]
    return GoldBatch(CutDocs(docs, cuts), trees)


class ChartLoss:
    """The loss of span scores and tag scores.

    chains, tags: the labels, by number. A gold bracket or tag that is not among them is left out. tag_weight: of the
    tags' log loss; 0: tags are not learned.
    """

    def __init__(self, loss: Loss, chains: Sequence[Chain], tags: Sequence[str], tag_weight: float):
        self._loss, self._tag_weight = loss, tag_weight
        self._chains = {chain: number for number, chain in enumerate(chains)}
        self._tags = {tag: number for number, tag in enumerate(tags)}

    def __call__(self, trees: Sequence[Tree], scores: SpanScores, ops: Ops) -> tuple[float, SpanScores]:
        """Return the sum of the losses of sentences, and its derivatives by the scores."""
        labels = ops.to_numpy(scores.labels)
        gradient: Any = np.zeros_like(labels)
        total, first = 0.0, 0
        for tree in trees:
            n_words = len(tree.words)
            rows = slice(first, first + n_words * (n_words + 1) // 2)
            loss, gradient[rows] = self._loss(labels[rows], n_words, self._gold_rows(tree))
            total, first = total + loss, rows.stop
        of_tags: Any
        tag_loss, of_tags = self._of_tags(trees, ops.to_numpy(scores.tags))
        return total + tag_loss, SpanScores(ops.asarray2f(gradient), ops.asarray2f(of_tags), scores.lengths)

    def _gold_rows(self, tree: Tree) -> np.ndarray:
        rows = [
            (span_number(start, end), self._chains[chain])
            for start, end, chain in chain_brackets(tree.arrays)
            if chain in self._chains
        ]
        return np.array(rows, np.int64).reshape(-1, 2)

    def _of_tags(self, trees: Sequence[Tree], scores: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the log loss of tags and its derivatives."""
        gold = np.array([self._tags.get(tag, -1) for tree in trees for tag in tree.tags], np.int64)
        words = np.flatnonzero(gold >= 0)
        logs = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
        gradient = np.exp(logs)
        gradient[words, gold[words]] -= 1
        gradient[gold < 0] = 0
        return -self._tag_weight * float(logs[words, gold[words]].sum()), gradient * np.float32(self._tag_weight)
