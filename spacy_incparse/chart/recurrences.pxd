# Recurrences over the edges of a packed forest. Arrays have one number per edge or per node.
from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from spacy_incparse.chart.forest cimport Forest


cdef void fill_inside(Forest forest, const double* scores, double* inside) noexcept nogil
cdef void fill_marginals(Forest forest, const double* scores, const double* inside, double* nodes,
                         double* edges) noexcept nogil
cdef void fill_best(Forest forest, const double* scores, double* best, int32_t* best_edges) noexcept nogil
cdef void follow(Forest forest, const int32_t* best_edges, vector[int32_t]* found) noexcept nogil
