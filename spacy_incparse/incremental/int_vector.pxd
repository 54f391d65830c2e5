# Whole numbers that stay in compiled memory on their way through Python, such as the moves of a derivation.
from libc.stdint cimport int32_t
from libcpp.vector cimport vector


cdef class IntVector:
    cdef vector[int32_t] values


cdef IntVector taken(vector[int32_t]* values)
cdef int copy_ints(object source, vector[int32_t]* target) except -1
