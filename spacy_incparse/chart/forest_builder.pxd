# The states that pruning leaves over each span, and how spans are numbered.
from libc.stdint cimport int32_t
from libcpp.vector cimport vector


cdef class SpanStates:
    cdef readonly int32_t n_states   # of the grammar
    cdef vector[int32_t] states      # by span, ascending
    cdef vector[int32_t] first       # the states of span s are states[first[s]:first[s + 1]]


cdef inline size_t cell_of(int32_t start, int32_t end) noexcept nogil:
    """Return the number of a span: by its end, then by its start."""
    return <size_t>end * (end - 1) // 2 + start
