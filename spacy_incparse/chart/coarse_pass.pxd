# Inside and outside probabilities of a small grammar, for pruning.
from libc.stdint cimport int32_t, uint64_t
from libcpp.vector cimport vector

from spacy_incparse.chart.rule_tables cimport RuleTables


# What a pair of neighbours can make.
cdef struct MadeC:
    int32_t parent
    double probability


cdef class CoarsePass:
    cdef readonly RuleTables tables
    cdef vector[double] binary           # probabilities, in the order of the tables
    cdef vector[MadeC] made              # binary rules by left and right child
    cdef vector[int32_t] first_made      # by left child times the number of states plus right child
    cdef vector[uint64_t] partners       # by left child: the set of right children
    cdef vector[double] unary
    cdef vector[double] roots
    cdef vector[double] lexical_rules
    cdef vector[double] bare             # by state
    cdef vector[double] prior            # by state: how often it is the child of a binary rule
    cdef readonly double scale           # of each word, so that probabilities of sentences are neither 0 nor infinite
    cdef double beam
    cdef double floor
    cdef int32_t n_words
    cdef size_t n_blocks                 # of 64 positions
    cdef size_t n_state_blocks           # of 64 states
    cdef vector[double] bases            # inside, by cell and state
    cdef vector[double] tops
    cdef vector[uint64_t] kept           # by cell: the set of states whose `tops` are above 0
    # The same and the outside values by position, state and position: a span stands at (start, state, end) and at
    # (end, state, start), so that those that a rule combines over all splits are neighbours in memory.
    cdef vector[double] inside
    cdef vector[double] outside
    cdef vector[uint64_t] splits         # by position and state: where `inside` is above 0
    cdef vector[double] base_outside     # of the current cell
    cdef vector[double] words            # by word and lexical rule: 0 for what a word cannot be
    cdef double total
    cdef vector[int32_t] whole           # states of phrases and words
    cdef vector[double] before           # by position: the sum over all sequences of pieces up to it
    cdef vector[double] behind           # and from it on
    cdef inline size_t _place(self, int32_t p, int32_t state) noexcept nogil
    cdef bint _has_split(self, int32_t i, int32_t j, size_t row, size_t column) noexcept nogil
    cdef void _run_inside(self) noexcept nogil
    cdef void _find_words(self, int32_t i, double* bases) noexcept nogil
    cdef void _join(self, size_t left_cell, size_t right_cell, double* bases) noexcept nogil
    cdef void _find_tops(self, size_t cell, const double* bases) noexcept nogil
    cdef void _keep(self, int32_t i, int32_t j, size_t cell) noexcept nogil
    cdef double _find_total(self) noexcept nogil
    cdef double _find_pieces(self) noexcept nogil
    cdef double _piece(self, int32_t i, int32_t j) noexcept nogil
    cdef void _run_outside(self, double* base_posteriors, double* top_posteriors) noexcept nogil
    cdef void _set_bases_outside(self, int32_t i, int32_t j) noexcept nogil
    cdef void _pass_down(self, int32_t i, int32_t j, int32_t state, double value) noexcept nogil
