"""Ids for the labels of phrases (nonterminals) and of words (tags), most frequent first.

A phrase and a word may have the same label in a treebank. A *symbol*, which may be either, therefore has its own id:
nonterminals keep theirs, and tags come after them.

Weights belong to ids. Labels that a trained model learns later (`Labels.extended`) therefore get ids after all others.
Ids that already had another meaning keep it: the one after the tags, which marks the end of the sentence, and those of
the tags' symbols. `NOBODY` fills their places.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from spacy_incparse.errors import IncparseError
from spacy_incparse.trees.tree import Tree

# These take the place of an id if there is no symbol.
NO_SIBLING = -1  # as a left sibling: the next symbol is the first child
STOP = -1  # as the next symbol: the constituent ends
SHIFT = -2  # as an outcome: the word itself comes next, whatever its tag
END = -1  # as a look-ahead tag: there are no more words
UNKNOWN = -3  # for a label that is not among these labels

NOBODY = ""  # in the place of an id that no label may have
SPARE_TAGS = 100  # more than there are: room for tags that come after the first new nonterminal


@dataclass(frozen=True)
class Labels:
    """The nonterminals (including slash labels and the root's) and tags of a treebank; an id is a position."""

    nonterminals: tuple[str, ...]
    tags: tuple[str, ...]

    @classmethod
    def from_trees(cls, trees: Iterable[Tree]) -> Labels:
        """Collect the labels of trees, sorted by decreasing frequency, then by name."""
        phrases: Counter[str] = Counter()
        words: Counter[str] = Counter()
        for tree in trees:
            arrays = tree.arrays
            for label, size in zip(arrays.labels, arrays.sizes, strict=True):
                (phrases if size > 1 else words)[label] += 1
        return cls(_by_frequency(phrases), _by_frequency(words))

    def extended(self, other: Labels) -> Labels:
        """Return labels that also include those of `other`; all existing labels keep their ids.

        Raises IncparseError if there is no room for all tags.
        """
        tags = [tag for tag in other.tags if tag not in self.tag_ids]
        nonterminals = [label for label in other.nonterminals if label not in self.nonterminal_ids]
        end = [NOBODY] if tags and NOBODY not in self.tags else []
        all_tags = (*self.tags, *end, *tags)
        spare = [NOBODY] * (len(all_tags) + SPARE_TAGS) if nonterminals and NOBODY not in self.nonterminals else []
        n_spare = len(spare) or self.nonterminals.count(NOBODY)
        if n_spare and len(all_tags) > n_spare:
            raise IncparseError(
                f"the model has no room for {len(tags)} more tags, such as {tags[0]!r}: train a new one on all trees"
            )
        return Labels((*self.nonterminals, *spare, *nonterminals), all_tags)

    @cached_property
    def nonterminal_ids(self) -> dict[str, int]:
        """The id of each phrase label."""
        return {label: k for k, label in enumerate(self.nonterminals) if label != NOBODY}

    @cached_property
    def tag_ids(self) -> dict[str, int]:
        """The id of each tag among the tags."""
        return {tag: k for k, tag in enumerate(self.tags) if tag != NOBODY}

    @cached_property
    def end_tag(self) -> int:
        """The number that replaces a tag id before and after the sentence."""
        return self.tags.index(NOBODY) if NOBODY in self.tags else len(self.tags)

    @cached_property
    def first_tag(self) -> int:
        """The symbol id of the first tag."""
        return self.nonterminals.index(NOBODY) if NOBODY in self.nonterminals else len(self.nonterminals)

    @property
    def n_symbols(self) -> int:
        """The number after the last symbol id."""
        return max(len(self.nonterminals), self.first_tag + len(self.tags))

    def tag_symbol(self, tag_id: int) -> int:
        """Return the symbol id of a tag."""
        return self.first_tag + tag_id

    def name(self, symbol: int) -> str:
        """Return the label of a symbol id; `NOBODY` for an id without a label."""
        place = symbol - self.first_tag
        nonterminal = self.nonterminals[symbol] if symbol < len(self.nonterminals) else NOBODY
        return nonterminal or (self.tags[place] if 0 <= place < len(self.tags) else NOBODY)


def _by_frequency(counts: Counter[str]) -> tuple[str, ...]:
    return tuple(sorted(counts, key=lambda label: (-counts[label], label)))
