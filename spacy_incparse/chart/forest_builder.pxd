# CKY without scores: first what can be made at all, then what is part of a tree, then the forest.
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libcpp.vector cimport vector

from spacy_incparse.chart.forest cimport Forest
from spacy_incparse.chart.rule_tables cimport BinaryC, RuleTables, SpanLimits, SpanStates


cdef enum:
    BASE = 1       # made by a binary or lexical rule
    TOP = 2        # made by these or by a unary rule applied to them
    USED_BASE = 4  # and part of a tree
    USED_TOP = 8
    LEXICAL = 16   # a lexical rule of the word makes it


cdef class ForestBuilder:
    cdef readonly RuleTables tables
    cdef int32_t n_words
    cdef size_t n_blocks                # 64 positions each
    cdef vector[uint8_t] flags          # by cell, then state
    cdef vector[int32_t] candidates     # of the current cell: the states that may be over it
    cdef vector[int32_t] made           # the states with BASE or TOP, ascending, by cell
    cdef vector[size_t] made_ranges     # by cell: the first place in `made`, and one after the last
    # Bit k of row (i, state): there is a top from i to k. Bit k of column (j, state): there is a top from k to j.
    cdef vector[uint64_t] rows
    cdef vector[uint64_t] columns
    cdef vector[int32_t] bases          # the nodes of the current cell, by state
    cdef vector[int32_t] tops           # the nodes, by cell, then state
    cdef vector[int32_t] lexical        # lexical rules, by word
    cdef vector[int32_t] first_lexical
    cdef SpanLimits limits
    cdef SpanStates mask                # None: all states are allowed
    cdef int64_t max_edges
    cdef int64_t n_edges                # of the forest, at most: all lexical rules of its words are counted
    cdef readonly bint is_too_large     # whether the last sentence had more than `max_edges`
    cdef Forest forest
    cdef void _find_all(self) noexcept nogil
    cdef void _mark_all(self) noexcept nogil
    cdef void _add_all(self) noexcept nogil
    cdef void _find_candidates(self, size_t cell) noexcept nogil
    cdef void _add_candidate(self, size_t cell, int32_t state) noexcept nogil
    cdef void _find_bases(self, int32_t i, int32_t j) noexcept nogil
    cdef void _find_tops(self, int32_t i, int32_t j) noexcept nogil
    cdef void _find_words(self, int32_t i, uint8_t* flags) noexcept nogil
    cdef void _note_made(self, size_t cell) noexcept nogil
    cdef bint _is_made(self, int32_t i, int32_t j, int32_t state) noexcept nogil
    cdef inline uint64_t _splits(self, int32_t i, int32_t j, const BinaryC* rule, int32_t block) noexcept nogil
    cdef bint _may_be_top(self, size_t cell, int32_t state, const uint8_t* flags) noexcept nogil
    cdef void _mark_used(self, int32_t i, int32_t j) noexcept nogil
    cdef void _mark_bases(self, size_t cell, uint8_t* flags) noexcept nogil
    cdef void _mark_children(self, int32_t i, int32_t j, int32_t state) noexcept nogil
    cdef void _add_nodes(self, int32_t i, int32_t j) noexcept nogil
    cdef int32_t _add_node(self, int32_t state, int32_t i, int32_t j) noexcept nogil
    cdef void _add_lexical_edges(self, int32_t i, int32_t state) noexcept nogil
    cdef void _add_binary_edges(self, int32_t i, int32_t j, int32_t state) noexcept nogil
    cdef void _add_unary_edges(self, size_t cell, int32_t state, const uint8_t* flags) noexcept nogil
    cdef void _add_goal(self) noexcept nogil
    cdef bint _allows_bare(self, size_t cell, int32_t state) noexcept nogil
    cdef bint _allows_unary(self, size_t cell, int32_t entry) noexcept nogil
