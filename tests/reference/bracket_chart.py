"""Trees of brackets by enumeration: each tree is a set of spans, no two of which cross."""

from itertools import combinations

import numpy as np


def all_spans(n_words):
    """All spans in the order of the chart."""
    return [(i, j) for j in range(1, n_words + 1) for i in range(j)]


def all_trees(n_words):
    """All sets of spans that do not cross, as sorted lists of span numbers."""
    spans = all_spans(n_words)
    found = []
    for size in range(len(spans) + 1):
        for chosen in combinations(range(len(spans)), size):
            if not any(_cross(spans[a], spans[b]) for a, b in combinations(chosen, 2)):
                found.append(list(chosen))
    return found


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


def _cross(a, b):
    return a[0] < b[0] < a[1] < b[1] or b[0] < a[0] < b[1] < a[1]
