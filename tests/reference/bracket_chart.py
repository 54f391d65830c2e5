"""Trees of brackets by enumeration: each tree is a set of spans, no two of which cross."""

from itertools import combinations

import numpy as np


def all_spans(n_words):
    """All spans in the order of the chart."""
    return [(i, j) for j in range(1, n_words + 1) for i in range(j)]


def all_trees(n_words):
    """All sets of spans that do not cross, as sorted lists of span numbers."""
    numbers = {span: number for number, span in enumerate(all_spans(n_words))}
    return [[numbers[span] for span in chosen] for chosen in all_phrase_sets(numbers)]


def log_partition(values, n_words):
    return float(np.logaddexp.reduce([sum(values[span] for span in tree) for tree in all_trees(n_words)]))


def marginals(values, n_words):
    trees = all_trees(n_words)
    scores = np.array([sum(values[span] for span in tree) for tree in trees])
    shares = np.exp(scores - np.logaddexp.reduce(scores))
    found = np.zeros(len(values))
    for tree, share in zip(trees, shares, strict=True):
        found[tree] += share
    return found


def best(values, n_words):
    """The score and the spans of the best tree."""
    return max((sum(values[span] for span in tree), tree) for tree in all_trees(n_words))


def crosses(a, b):
    (*_, i, j), (*_, k, m) = a, b
    return i < k < j < m or k < i < m < j


def all_phrase_sets(phrases):
    """Yield all sets of these phrases or spans of which no two cross."""
    for size in range(len(phrases) + 1):
        for chosen in combinations(phrases, size):
            if not any(crosses(a, b) for a, b in combinations(chosen, 2)):
                yield chosen
