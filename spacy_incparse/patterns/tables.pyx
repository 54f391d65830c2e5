"""Masks, captures and head ranks by symbol: computed once per label and word, in Python, and then looked up."""

from libc.stdint cimport int32_t, uint64_t
from libcpp.vector cimport vector

from spacy_incparse.trees.forest cimport NodesC, Symbols


cdef class Tables:
    """The tables of one pattern for one set of symbols.

    tests: `LabelTests`. captures: (description, group) of each capture. heads: `HeadRules`, or None if not needed.
    """

    def __init__(self, Symbols symbols, tests, captures, heads):
        self.symbols, self.tests, self.captures, self.heads = symbols, tests, captures, heads
        self.other_words, self.known_words = tests.other_words, tests.known_words
        self.captured = {}
        self.label_captures.resize(len(captures))
        self.word_captures.resize(len(captures))

    cdef bint is_complete(self):
        """Return whether the tables have all labels and words of the symbols."""
        cdef size_t n_labels = len(self.symbols.labels), n_words = len(self.symbols.words)
        return self.label_masks.size() == n_labels and self.word_masks.size() == n_words

    cdef int update(self) except -1:
        """Add the labels and words that are new since the last call."""
        # While Python code runs, another thread may do the same: the first one fills the tables.
        cdef size_t n_known
        while self.label_masks.size() < <size_t>len(self.symbols.labels):
            n_known = self.label_masks.size()
            labels = self.symbols.labels[n_known:]
            masks = self.tests.label_masks(labels)
            captures = [self._captured(labels, False, *capture) for capture in self.captures]
            if n_known == self.label_masks.size():
                _append(masks, captures, &self.label_masks, &self.label_captures)
                self.categories = self.symbols.categories
        while self.word_masks.size() < <size_t>len(self.symbols.words):
            n_known = self.word_masks.size()
            if self.other_words is not None:
                self._add_known_words(n_known, len(self.symbols.words))
                continue
            words = self.symbols.words[n_known:]
            masks = self.tests.word_masks(words)
            captures = [self._captured(words, True, *capture) for capture in self.captures]
            if n_known == self.word_masks.size():
                _append(masks, captures, &self.word_masks, &self.word_captures)
        return 0

    cdef int _add_known_words(self, size_t n_known, size_t n_words) except -1:
        """Add new words; only those that the pattern spells out matter."""
        cdef uint64_t mask = self.other_words
        self.word_masks.resize(n_words, mask)
        for text, its_mask in self.known_words.items():
            number = self.symbols.word_numbers.get(text)
            if number is not None and n_known <= <size_t>number < n_words:
                mask = its_mask
                self.word_masks[<size_t>number] = mask
        return 0

    def _captured(self, texts, words, description, group):
        found = self.tests.captured(description, group, texts, words=words)
        return [-1 if text is None else self.captured.setdefault(text, len(self.captured)) for text in found]

    cdef int find_heads(self, const NodesC* nodes, size_t first, size_t behind, int32_t* heads) except -1:
        """Find the head child of each node of a tree, counted from its first node; -1 for words."""
        cdef int32_t node, child, end, rank, best
        cdef const int32_t* sizes = nodes.sizes.data() + first
        cdef const int32_t* symbols = nodes.symbols.data() + first
        for node in range(<int32_t>(behind - first)):
            heads[node] = -1
            child, end = node + 1, node + sizes[node]
            best = -1
            while child < end:
                rank = 0 if symbols[child] & 1 else self._rank(symbols[node], symbols[child])
                if best < 0 or (rank >> 1) < (best >> 1) or ((rank >> 1) == (best >> 1) and rank & 1):
                    best, heads[node] = rank, child
                child += sizes[child]
        return 0

    cdef int32_t _rank(self, int32_t parent, int32_t child) except -1:
        parent, child = self.symbols.categories[parent >> 1], self.symbols.categories[child >> 1]
        cdef uint64_t key = <uint64_t>parent << 32 | <uint64_t>child
        if self.ranks.count(key):
            return self.ranks[key]
        rank, direction = self.heads.priority(self.symbols.labels[parent >> 1], self.symbols.labels[child >> 1])
        self.ranks[key] = 2 * <int32_t>rank + <int32_t>(direction < 0)
        return self.ranks[key]


cdef int _append(
    list masks, list captures, vector[uint64_t]* known_masks, vector[vector[int32_t]]* known_captures
) except -1:
    cdef uint64_t mask
    cdef int32_t value
    cdef size_t k
    for mask in masks:
        known_masks.push_back(mask)
    for k in range(known_captures.size()):
        for value in captures[k]:
            known_captures[0][k].push_back(value)
    return 0
