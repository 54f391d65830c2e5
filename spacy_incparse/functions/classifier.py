"""Log-linear classifiers on hashed features: what is learnt, and how it is stored."""

from __future__ import annotations

import random
from typing import NamedTuple

import numpy as np

from spacy_incparse.functions.learner import learn
from spacy_incparse.tagging.tagger import SparseWeights

SCALE = 12  # weights are stored as multiples of 1/SCALE, in 8 bits
LARGEST = 127
MIN_COUNT = 2  # features of fewer examples are not learnt
RATE = 0.3
FIRST_SQUARE = 4.0  # of gradients: how much the first steps are damped


class Examples(NamedTuple):
    """Decisions to learn from, as groups of rows that compete; in each row, classes do.

    keys: (rows, templates) uint32, the features. groups: the first row of each group, and the number of all rows.
    targets: the right one of each group: row in the group times the number of classes, plus class. possible: (rows,
    classes) int8, which classes compete. Arrays of whole numbers are int32.
    """

    keys: np.ndarray
    groups: np.ndarray
    targets: np.ndarray
    possible: np.ndarray

    @classmethod
    def of_classes(cls, keys: np.ndarray, classes: np.ndarray, possible: np.ndarray) -> Examples:
        """Return examples of a classifier: a row each."""
        return cls(keys, np.arange(len(classes) + 1, dtype=np.int32), classes, possible)

    @classmethod
    def of_ranks(cls, keys: np.ndarray, are_right: np.ndarray, numbers: np.ndarray) -> Examples:
        """Return examples of a ranker, given for each candidate whether it is right and the number of its group."""
        groups = np.append(np.flatnonzero(np.diff(numbers, prepend=-1)), len(numbers)).astype(np.int32)
        targets = (np.flatnonzero(are_right) - groups[:-1]).astype(np.int32)
        return cls(keys, groups, targets, np.ones((len(keys), 1), np.int8))


def fit(examples: Examples, *, n_epochs: int, seed: int) -> SparseWeights:
    """Return the mean weights of all passes. A feature has weights for class 0 and those it was seen with."""
    if not len(examples.targets):
        return SparseWeights(np.zeros(0, np.uint32), *(np.zeros(0, np.int32) for _ in range(3)))
    n_templates, n_classes = examples.keys.shape[1], examples.possible.shape[1]
    found, places, counts = np.unique(examples.keys, return_inverse=True, return_counts=True)
    is_kept = counts >= MIN_COUNT
    numbers = np.where(is_kept, np.cumsum(is_kept) - 1, -1).astype(np.int32)
    features = numbers[places.reshape(-1)]
    keys, classes = found[is_kept], np.zeros(len(examples.keys), np.int64)
    if n_classes > 1:
        classes += examples.targets
    seen = features.astype(np.int64) * n_classes + np.repeat(classes, n_templates)
    cells = np.unique(np.concatenate((seen[features >= 0], np.arange(len(keys)) * n_classes)))
    firsts = np.searchsorted(cells, np.arange(len(keys) + 1) * n_classes).astype(np.int32)
    tags = (cells % n_classes).astype(np.int32)
    weights, squares, total = np.zeros(len(cells)), np.full(len(cells), FIRST_SQUARE), np.zeros(len(cells))
    order, generator = list(range(len(examples.targets))), random.Random(seed)
    for _ in range(n_epochs):
        generator.shuffle(order)
        learn(
            features, firsts, tags, examples.groups, examples.targets, examples.possible.reshape(-1), weights, squares,
            np.array(order, np.int32), n_templates, n_classes, RATE,
        )  # fmt: skip
        total += weights
    values = np.rint(total / n_epochs * SCALE).clip(-LARGEST, LARGEST).astype(np.int32)
    return _without_zeros(keys, firsts, tags, values)


def _without_zeros(keys: np.ndarray, firsts: np.ndarray, tags: np.ndarray, values: np.ndarray) -> SparseWeights:
    """Return the weights that are not 0."""
    is_kept = values != 0
    lengths = np.diff(np.concatenate(([0], np.cumsum(is_kept)))[firsts]).astype(np.int32)
    has_any = lengths > 0
    return SparseWeights(keys[has_any], lengths[has_any], tags[is_kept], values[is_kept])
