# The rules of a grammar by parent, as the construction of forests reads them.
from libc.stdint cimport int32_t, uint8_t
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
