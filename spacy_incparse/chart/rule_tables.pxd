# What the construction of forests reads: rules by parent, the states that pruning leaves, and what constraints allow.
from libc.stdint cimport int32_t, uint8_t, uint64_t
from libcpp.vector cimport vector


cdef struct BinaryC:
    int32_t rule
    int32_t left
    int32_t right


cdef struct UnaryC:
    int32_t rule
    int32_t child


cdef class RuleTables:
    cdef readonly int32_t n_states
    cdef readonly int32_t glue               # the state of neighbours under no phrase; -1: there is none
    cdef readonly int32_t first_lexical      # the number of the first lexical rule
    cdef vector[BinaryC] binary
    cdef vector[int32_t] first_binary        # by parent, and the end of all
    cdef vector[UnaryC] unary
    cdef vector[int32_t] first_unary
    cdef vector[int32_t] lexical_states      # of lexical rules
    cdef vector[UnaryC] roots
    cdef vector[uint8_t] has_levels          # by state: whether a unary rule has it as parent or child
    cdef int check_lexical(self, int32_t rule) except -1


# The states that pruning leaves over each span.
cdef class SpanStates:
    cdef readonly int32_t n_states   # of the grammar
    cdef vector[int32_t] states      # by span, ascending
    cdef vector[int32_t] first       # the states of span s are states[first[s]:first[s + 1]]


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
