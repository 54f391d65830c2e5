"""The features that a reranker knows, each with its column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property

import numpy as np

from spacy_incparse.rerank.column_table import ColumnTable
from spacy_incparse.trees.labels import bare_label
from spacy_incparse.trees.tree import Tree

_PENDING = 4_000_000  # keys that are counted at a time, 32 MB


class FeatureColumns:
    """Columns of features, numbered in the order of their keys.

    keys: (n,) uint64, distinct, ascending: keys of `FeatureExtractor.keys`.
    """

    def __init__(self, keys: np.ndarray):
        self.keys = np.ascontiguousarray(keys, dtype=np.uint64)

    @classmethod
    def select(cls, keys_by_list: Iterable[tuple[np.ndarray, np.ndarray]], min_lists: int = 5) -> FeatureColumns:
        """Return the features that at least `min_lists` lists have on some tree, and some list not on all of its trees.

        keys_by_list: the results of `FeatureExtractor.keys` for many lists; a cut-off of 5 is that of Collins (2000),
        section 3. If keys were extracted with `drop_common`, which takes a fraction of the time and memory, lists in
        which all trees have a feature do not count.
        """
        counts = _KeyCounts()
        for starts, keys in keys_by_list:
            counts.add(np.asarray(keys), len(starts) - 1)
        return cls(counts.selected(min_lists))

    @cached_property
    def table(self) -> ColumnTable:
        """The columns by key, for compiled code."""
        return ColumnTable(self.keys.tobytes())

    def __len__(self) -> int:
        return len(self.keys)

    def subset(self, columns: np.ndarray) -> FeatureColumns:
        """Return some of the columns, given by number in ascending order, renumbered: those with a weight, say."""
        return FeatureColumns(self.keys[columns])


class _KeyCounts:
    """Counts for each key the lists that have it; keys wait until there are many of them, since merging sorts."""

    def __init__(self) -> None:
        self._keys = np.empty(0, np.uint64)
        self._n_lists = np.empty(0, np.int32)
        self._varies = np.empty(0, bool)
        self._pending: list[tuple[np.ndarray, np.ndarray]] = []
        self._n_pending = 0

    def add(self, keys: np.ndarray, n_trees: int) -> None:
        """Count a list with its keys, each as often as trees have it."""
        distinct, n = np.unique(keys, return_counts=True)
        self._pending.append((distinct, n < n_trees))
        self._n_pending += len(distinct)
        if self._n_pending > max(_PENDING, len(self._keys) // 2):
            self._merge()

    def selected(self, min_lists: int) -> np.ndarray:
        """Return the keys that enough lists have and that vary in some list."""
        self._merge()
        return self._keys[(self._n_lists >= min_lists) & self._varies]

    def _merge(self) -> None:
        ones = [np.ones(len(keys), np.int32) for keys, _ in self._pending]
        keys = np.concatenate([self._keys, *(keys for keys, _ in self._pending)])
        n_lists = np.concatenate([self._n_lists, *ones])
        varies = np.concatenate([self._varies, *(varies for _, varies in self._pending)])
        self._pending, self._n_pending = [], 0
        order = np.argsort(keys, kind="stable")
        keys, n_lists, varies = keys[order], n_lists[order], varies[order]
        firsts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if len(keys) else np.empty(0, np.int64)
        self._keys = keys[firsts]
        self._n_lists = np.add.reduceat(n_lists, firsts) if len(keys) else n_lists
        self._varies = np.logical_or.reduceat(varies, firsts) if len(keys) else varies


MAX_PRODUCTIVITY = 0.02
MAX_CLOSED_WORDS = 200  # in a large corpus or a narrow field, verbs and nouns are seldom new either, but they are many


def is_prepositional(label: str) -> bool:
    """Return whether a category is that of prepositional phrases: PP, or WHPP and its like; sp in AnCora."""
    upper = label.upper()
    return upper.endswith("PP") or upper in ("SP", "PREP")


def closed_class_tags(trees: Iterable[Tree], max_productivity: float = MAX_PRODUCTIVITY) -> tuple[str, ...]:
    """Return the tags whose words belong to a closed class, in alphabetical order.

    The productivity of a tag is the share of its words that occur only once with it: the probability that its next word
    is a new one (Good 1953; Baayen & Lieber 1991). It is low for determiners, prepositions, pronouns and conjunctions,
    and high for nouns, in any language. A tag with more than 200 different words is not closed.
    """
    counts: Counter[tuple[str, str]] = Counter()
    for tree in trees:
        arrays = tree.own_arrays
        tags = (bare_label(arrays.labels[leaf]) for leaf in arrays.leaves)
        counts.update((tag, word.lower()) for tag, word in zip(tags, arrays.words, strict=True))
    n_words: Counter[str] = Counter()
    n_single: Counter[str] = Counter()
    n_different: Counter[str] = Counter()
    for (tag, _), count in counts.items():
        n_words[tag] += count
        n_single[tag] += count == 1
        n_different[tag] += 1
    return tuple(
        tag
        for tag in sorted(n_words)
        if n_single[tag] <= max_productivity * n_words[tag] and n_different[tag] <= MAX_CLOSED_WORDS
    )
