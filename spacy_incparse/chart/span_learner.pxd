# Learning to classify spans.
from libc.stdint cimport int32_t, uint8_t, uint64_t
from libcpp.vector cimport vector

from spacy_incparse.chart.span_scorer cimport GateC, SpanScorer


cdef class SpanLearner(SpanScorer):
    cdef vector[float] gate_squares   # sums of squared gradients
    cdef vector[float] label_squares
    cdef double _learn_gate(self, const uint8_t* has_node, float step) noexcept nogil
    cdef void _change_gate(self, const uint64_t* rows, int group, GateC gradient, float step) noexcept nogil
    cdef double _learn_labels(self, const int32_t[:, ::1] gold, float step) noexcept nogil
    cdef void _change_labels(self, const uint64_t* rows, int group, const float* gradients, float step) noexcept nogil
