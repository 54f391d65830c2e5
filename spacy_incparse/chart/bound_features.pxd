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


# Weights in training: AdaGrad or plain gradient ascent, with an L2 prior that is applied lazily.
cdef class LearningWeights:
    cdef readonly object values      # the weights, float32
    cdef readonly object squares     # sums of squared gradients, float32; None without AdaGrad
    cdef readonly object clocks      # by weight: the clock at its last change
    cdef readonly double l2
    cdef public double step          # the size of the next changes
    cdef public double clock         # the sum of the sizes of all steps so far
    cdef float* value
    cdef float* square
    cdef float* changed
    cdef void add(self, uint32_t feature, float gradient) noexcept nogil
