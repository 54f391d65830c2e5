"""Slow twin of the recombination: all sets of phrases of which no two cross."""

from itertools import combinations


def crosses(a, b):
    (_, i, j), (_, k, m) = a, b
    return i < k < j < m or k < i < m < j


def all_phrase_sets(phrases):
    """Yield all sets of these phrases that some tree has."""
    for size in range(len(phrases) + 1):
        for chosen in combinations(phrases, size):
            if not any(crosses(a, b) for a, b in combinations(chosen, 2)):
                yield chosen
