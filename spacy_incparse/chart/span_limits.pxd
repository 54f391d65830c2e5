# What constraints allow over each span of a sentence.
from libc.stdint cimport int32_t, uint8_t, uint64_t
from libcpp.vector cimport vector

from spacy_incparse.chart.rule_tables cimport RuleTables, UnaryC


cdef enum:
    MAX_REQUIRED = 60   # labels that may be required over the same words
    FORBIDDEN_BIT = 63  # of a state or a rule that makes a forbidden phrase


cdef inline size_t cell_of(int32_t start, int32_t end) noexcept nogil:
    """Return the number of a span: by its end, then by its start."""
    return <size_t>end * (end - 1) // 2 + start


# A span that is limited has a row of `lacks` and one of `gives`, one bit for each required label and the last one for
# forbidden ones: the labels that a state does not stand for, and those that a unary rule adds.
cdef class SpanLimits:
    cdef readonly int32_t n_words
    cdef vector[int32_t] rows           # by cell: FREE, BLOCKED or the number of a row
    cdef vector[uint64_t] lacks         # rows of one entry per state
    cdef vector[uint64_t] gives         # rows of one entry per unary rule of the tables
    cdef size_t n_states
    cdef size_t n_unary
    cdef bint allows_span(self, size_t cell) noexcept nogil
    cdef bint allows_base(self, size_t cell, int32_t state) noexcept nogil
    cdef bint allows_bare(self, size_t cell, int32_t state) noexcept nogil
    cdef bint allows_unary(self, size_t cell, size_t entry, const UnaryC* rule) noexcept nogil
