"""Ids for the labels of phrases (nonterminals) and of words (tags), the most frequent first.

A phrase and a word may bear the same label in a treebank, so a *symbol*, which may be either, has an id of its own:
nonterminals keep theirs, tags follow after them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from spacy_incparse.trees.tree import Tree

# What stands in an id's place where there is no symbol.
NO_SIBLING = -1  # as a left sibling: the next symbol is the first child
STOP = -1  # as the next symbol: the constituent ends
SHIFT = -2  # as an outcome: the word itself comes next, whatever its tag
END = -1  # as a look-ahead tag: there is no word any more
UNKNOWN = -3  # for a label that these labels do not have


@dataclass(frozen=True)
class Labels:
    """The nonterminals (slash labels and the root's among them) and tags of a treebank; an id is a position."""

    nonterminals: tuple[str, ...]
    tags: tuple[str, ...]

    @classmethod
    def from_trees(cls, trees: Iterable[Tree]) -> Labels:
        """Collect the labels of trees, sorted by falling frequency, then by name."""
        phrases: Counter[str] = Counter()
        words: Counter[str] = Counter()
        for tree in trees:
            arrays = tree.arrays
            for label, size in zip(arrays.labels, arrays.sizes, strict=True):
                (phrases if size > 1 else words)[label] += 1
        return cls(_by_frequency(phrases), _by_frequency(words))

    @cached_property
    def nonterminal_ids(self) -> dict[str, int]:
        """From a phrase label to its id."""
        return {label: k for k, label in enumerate(self.nonterminals)}

    @cached_property
    def tag_ids(self) -> dict[str, int]:
        """From a tag to its id among the tags."""
        return {tag: k for k, tag in enumerate(self.tags)}

    def tag_symbol(self, tag_id: int) -> int:
        """Give the symbol id of a tag."""
        return len(self.nonterminals) + tag_id

    def name(self, symbol: int) -> str:
        """Give the label of a symbol id."""
        n_nonterminals = len(self.nonterminals)
        return self.nonterminals[symbol] if symbol < n_nonterminals else self.tags[symbol - n_nonterminals]


def _by_frequency(counts: Counter[str]) -> tuple[str, ...]:
    return tuple(sorted(counts, key=lambda label: (-counts[label], label)))
