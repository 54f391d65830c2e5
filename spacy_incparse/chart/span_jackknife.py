"""Masks of training sentences by classifiers that have not seen them, so that learning meets realistic charts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from spacy_incparse.chart.grammar import Grammar
from spacy_incparse.chart.span_classifier import SpanClassifier, SpanClassifierSettings
from spacy_incparse.chart.span_states import SpanStates
from spacy_incparse.chart.tree_rules import tree_steps
from spacy_incparse.errors import ConfigError
from spacy_incparse.parsers.parse import Tags
from spacy_incparse.trees.arrays import TreeArrays


def jackknifed_masks(
    trees: Sequence[TreeArrays],
    tags: Sequence[Tags],
    grammar: Grammar,
    settings: SpanClassifierSettings | None = None,
    *,
    n_folds: int = 5,
    seed: int = 0,
) -> Iterator[SpanStates]:
    """Yield the strictest mask of each markovized tree's sentence by a classifier trained on the other folds.

    The states of the tree itself are never left out, so its chart is never empty. Folds are contiguous, as in
    `tagging.jackknife`. Raises ConfigError for fewer than two folds or trees.
    """
    n_folds = min(n_folds, len(trees))
    if n_folds < 2:
        raise ConfigError(f"jackknifing needs at least two folds and two trees, not {n_folds}")
    bounds = [len(trees) * fold // n_folds for fold in range(n_folds + 1)]
    for start, end in pairwise(bounds):
        classifier = SpanClassifier.train(
            [*trees[:start], *trees[end:]], [*tags[:start], *tags[end:]], grammar, settings, seed
        )
        for arrays, row in zip(trees[start:end], tags[start:end], strict=True):
            yield classifier.masks(row, arrays.words, tree_steps(arrays))[0]
