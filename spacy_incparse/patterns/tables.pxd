# The properties of labels and words that a pattern needs, for the symbols of one or more forests.
from libc.stdint cimport int32_t, uint64_t
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from spacy_incparse.trees.forest cimport NodesC, Symbols


cdef class Tables:
    cdef readonly Symbols symbols
    cdef object tests, captures, heads, other_words
    cdef dict known_words
    cdef dict captured                              # captured string -> number
    cdef int n_searches                             # searches in progress: until they end, nothing may grow
    cdef vector[int32_t] categories                 # the same as in the symbols
    cdef vector[uint64_t] label_masks, word_masks   # which descriptions fit a label or a word, by its number
    cdef vector[vector[int32_t]] label_captures, word_captures   # [capture][number] -> captured string, or -1
    cdef unordered_map[uint64_t, int32_t] ranks     # (parent, child) -> 2 * rank, + 1 if the rightmost wins
    cdef bint is_complete(self)
    cdef int update(self) except -1
    cdef int32_t _rank(self, int32_t parent, int32_t child) except -1
    cdef int _add_known_words(self, size_t n_known, size_t n_words) except -1
    cdef int find_heads(self, const NodesC* nodes, size_t first, size_t behind, int32_t* heads) except -1
