# Feature extraction: a context's field values become one row number of the weight table per template.
from libc.stdint cimport uint32_t, uint64_t
from libcpp.vector cimport vector


# The templates of one kind. Position fields, which are read once per word, are flattened by template: template t has
# position_field[position_begin[t]:position_begin[t + 1]]. Structure fields are read in each context. One that many
# templates read has a run: a coefficient for each of the templates 0, 1, ..., 0 where one does not read it. What else
# templates read are triples of a template, a field and a coefficient.
cdef struct TemplatesC:
    int n
    const uint64_t* bias
    const int* position_begin
    const int* position_field
    const uint64_t* position_coefficient
    int n_runs
    const int* run_field
    const int* run_begin
    const uint64_t* run_coefficient
    int n_others
    const int* other_template
    const int* other_field
    const uint64_t* other_coefficient
    const char* reads_tag


cdef class Templates:
    cdef vector[uint64_t] bias
    cdef vector[int] position_begin, position_field, run_field, run_begin, other_template, other_field
    cdef vector[uint64_t] position_coefficient, run_coefficient, other_coefficient
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
    cdef uint64_t value
    for k in range(t.n):
        hashes[k] = sums[k]
    for k in range(t.n_runs):
        begin, value = t.run_begin[k], values[t.run_field[k]]
        for j in range(t.run_begin[k + 1] - begin):
            hashes[j] += t.run_coefficient[begin + j] * value
    for k in range(t.n_others):
        hashes[t.other_template[k]] += t.other_coefficient[k] * values[t.other_field[k]]
    for k in range(t.n):
        rows[k] = <uint32_t>(hashes[k] >> shift)
