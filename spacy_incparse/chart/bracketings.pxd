# The probabilities of spans in all binary trees without labels.
from libc.stdint cimport int32_t, uint8_t
from libcpp.vector cimport vector


cdef class Bracketings:
    cdef int32_t n_words
    # Inside scores by begin and end, and by end and begin: for all splits of a span, those of both parts are neighbours
    # in memory. -INFINITY: there is no tree over the span.
    cdef vector[double] by_begin
    cdef vector[double] by_end
    cdef vector[double] sums       # of both parts, by split of the current span
    cdef vector[float] posteriors  # by cell
    cdef bint run(self, int32_t n_words, const float* scores, const uint8_t* is_open) noexcept nogil
    cdef double log_partition(self) noexcept nogil
    cdef double _inside(self, int32_t i, int32_t j, double score) noexcept nogil
    cdef void _pass_down(self, int32_t i, int32_t j, double posterior, double score) noexcept nogil
    cdef double _find_sums(self, int32_t i, int32_t j) noexcept nogil
