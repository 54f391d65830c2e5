# Feature extraction: a context's field values become one row number of the weight table per template.
from libc.stdint cimport uint32_t, uint64_t
from libcpp.vector cimport vector


# The templates of one kind, flattened: template t has the fields
# structure_field[structure_begin[t]:structure_begin[t + 1]].
cdef struct TemplatesC:
    int n
    const uint64_t* bias
    const int* structure_begin
    const int* structure_field
    const uint64_t* structure_coefficient
    const int* position_begin
    const int* position_field
    const uint64_t* position_coefficient
    const char* reads_tag


cdef class Templates:
    cdef vector[uint64_t] bias
    cdef vector[int] structure_begin, structure_field, position_begin, position_field
    cdef vector[uint64_t] structure_coefficient, position_coefficient
    cdef vector[char] reads_tag
    cdef TemplatesC c


cdef inline void position_sums(const TemplatesC* t, const uint32_t* values, uint64_t* sums) noexcept nogil:
    """The part of each template's hash that stays the same for all contexts at one word."""
    cdef int k, j
    cdef uint64_t h
    for k in range(t.n):
        h = t.bias[k]
        for j in range(t.position_begin[k], t.position_begin[k + 1]):
            h += t.position_coefficient[j] * values[t.position_field[j]]
        sums[k] = h


cdef inline void hash_rows(
    const TemplatesC* t, const uint64_t* sums, const uint32_t* values, int shift, uint32_t* rows
) noexcept nogil:
    """rows[k] = (sums[k] + sum_j coefficient_j * value_j) >> shift, the multilinear hash of Dietzfelbinger (1996)."""
    cdef int k, j
    cdef uint64_t h
    for k in range(t.n):
        h = sums[k]
        for j in range(t.structure_begin[k], t.structure_begin[k + 1]):
            h += t.structure_coefficient[j] * values[t.structure_field[j]]
        rows[k] = <uint32_t>(h >> shift)
