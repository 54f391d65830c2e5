# Feature extraction: a context's field values become one row number of the weight table per template.
from libc.stdint cimport uint32_t, uint64_t
from libcpp.vector cimport vector


# The templates of one kind, those with more structure fields first. Position fields, which are read once per word, are
# flattened by template: template t has position_field[position_begin[t]:position_begin[t + 1]]. Structure fields, which
# are read in each context, are flattened by round: the first fields of all templates, the second fields of those that
# have two, and so on, so that no loop depends on the number of fields of one template. Round k has
# structure_field[round_begin[k]:round_begin[k + 1]], which belong to the templates 0, 1, ...
cdef struct TemplatesC:
    int n
    const uint64_t* bias
    const int* position_begin
    const int* position_field
    const uint64_t* position_coefficient
    int n_rounds
    const int* round_begin
    const int* structure_field
    const uint64_t* structure_coefficient
    const char* reads_tag


cdef class Templates:
    cdef vector[uint64_t] bias
    cdef vector[int] position_begin, position_field, round_begin, structure_field
    cdef vector[uint64_t] position_coefficient, structure_coefficient
    cdef vector[char] reads_tag
    cdef TemplatesC c


cdef inline void position_sums(const TemplatesC* t, const uint32_t* values, uint64_t* sums) noexcept nogil:
    """Compute the part of each template's hash that is the same for all contexts at one word."""
    cdef int k, j
    cdef uint64_t h
    for k in range(t.n):
        h = t.bias[k]
        for j in range(t.position_begin[k], t.position_begin[k + 1]):
            h += t.position_coefficient[j] * values[t.position_field[j]]
        sums[k] = h


cdef inline void hash_rows(
    const TemplatesC* t, const uint64_t* sums, const uint32_t* values, int shift, uint64_t* hashes, uint32_t* rows
) noexcept nogil:
    """rows[k] = (sums[k] + sum_j coefficient_j * value_j) >> shift, the multilinear hash of Dietzfelbinger (1996).

    hashes: scratch memory, one element per template.
    """
    cdef int k, j, begin
    for k in range(t.n):
        hashes[k] = sums[k]
    for k in range(t.n_rounds):
        begin = t.round_begin[k]
        for j in range(t.round_begin[k + 1] - begin):
            hashes[j] += t.structure_coefficient[begin + j] * values[t.structure_field[begin + j]]
    for k in range(t.n):
        rows[k] = <uint32_t>(hashes[k] >> shift)
