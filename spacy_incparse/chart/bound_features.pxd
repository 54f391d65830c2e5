# The features of the edges of a forest: each distinct pair of a place and an outcome once.
from libc.stdint cimport int32_t, uint32_t
from libcpp.vector cimport vector


# An outcome at a place: its features are table[rows[row + t] + column] for each template t of the group.
cdef struct UnitC:
    uint32_t row
    int32_t column


cdef class BoundFeatures:
    cdef readonly Py_ssize_t n_edges
    cdef readonly Py_ssize_t n_weights
    cdef vector[size_t] n_templates            # by group
    cdef vector[int32_t] run_groups            # the numbers of the groups that are equal for all splits
    cdef vector[int32_t] edge_groups
    cdef vector[uint32_t] rows
    cdef vector[vector[UnitC]] units           # by group
    cdef vector[int32_t] run_starts            # the first edge of each run: edges of a node with one rule
    cdef vector[int32_t] run_units             # by run, then by run group: a unit or -1
    cdef vector[int32_t] edge_units            # by edge, then by edge group
    cdef vector[double] constants              # by run: the score of what is no rule
    cdef void _sum_units(self, const double* edge_values, vector[vector[double]]* sums) noexcept nogil
    cdef void _spread_units(self, const vector[vector[double]]* sums, double* edge_scores) noexcept nogil
