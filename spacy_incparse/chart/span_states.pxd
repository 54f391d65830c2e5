# The states that pruning leaves over each span.
from libc.stdint cimport int32_t, uint8_t
from libcpp.vector cimport vector


cdef class SpanStates:
    cdef readonly int32_t n_states   # of the grammar
    cdef vector[int32_t] states      # by span, ascending
    cdef vector[int32_t] first       # the states of span s are states[first[s]:first[s + 1]]
