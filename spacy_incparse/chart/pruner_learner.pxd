# Learning to classify spans.
from libc.stdint cimport int32_t, uint8_t, uint64_t
from libcpp.vector cimport vector

from spacy_incparse.chart.pruner_scorer cimport PrunerScorer


cdef class PrunerLearner(PrunerScorer):
    cdef float tree_step
    cdef float label_step
    cdef vector[float] gate_squares   # sums of squared gradients
    cdef vector[float] tree_squares
    cdef vector[float] label_squares
    cdef double _learn_gate(self, const uint8_t* has_node) noexcept nogil
    cdef double _learn_trees(self, const uint8_t* has_node) noexcept nogil
    cdef double _learn_labels(self, const int32_t* gold, size_t n_gold) noexcept nogil
    cdef void _change_labels(self, const uint64_t* rows, int group, const float* gradients) noexcept nogil
