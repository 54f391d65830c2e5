# Two linear classifiers of the spans of a sentence, over hashed features.
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libcpp.vector cimport vector


# Atoms stand in a row of numbers, filled for one span at a time; a template is a list of places in that row.
cdef struct TemplateC:
    uint64_t seed
    int32_t first  # its atoms are atoms[first:last] of the template table
    int32_t last


cdef class SpanScorer:
    cdef readonly int32_t n_columns
    cdef readonly int gate_bits
    cdef readonly int label_bits
    cdef int32_t width                    # columns in memory: a multiple of 16
    cdef vector[TemplateC] templates      # for begins, ends, spans and single words, one after the other
    cdef vector[int32_t] atoms
    cdef int32_t bounds[5]                # of the four groups of templates
    cdef vector[float] gate               # one weight per feature
    cdef vector[float] gate_squares       # sums of squared gradients, while learning
    cdef vector[float] labels             # rows of `width` weights
    cdef vector[float] label_squares
    # The current sentence
    cdef int32_t n_words
    cdef vector[uint32_t] codes           # by word, with `PADDING` words at both ends: tag, word
    cdef vector[uint32_t] place           # the atoms of the current span
    cdef vector[uint64_t] begin_rows      # hashes of the features of each position as begin, and as end
    cdef vector[uint64_t] end_rows
    cdef vector[float] begin_gate         # the sums of their weights
    cdef vector[float] end_gate
    cdef vector[float] begin_labels
    cdef vector[float] end_labels
    cdef vector[uint64_t] rows            # hashes of the features of the current span
    cdef vector[float] gate_scores        # by cell
    cdef vector[int32_t] open             # cells, ascending, with their begins and ends
    cdef vector[int32_t] open_begins
    cdef vector[int32_t] open_ends
    cdef vector[float] label_scores       # rows of `width`, by place in `open`
    cdef void _load(self, const uint32_t[:, ::1] codes)
    cdef void _score_positions(self) noexcept nogil
    cdef void _fill_place(self, int32_t i, int32_t j) noexcept nogil
    cdef void _find_rows(self, int group, uint64_t* rows) noexcept nogil
    cdef float _gate_sum(self, const uint64_t* rows, int group) noexcept nogil
    cdef void _add_label_rows(self, const uint64_t* rows, int group, float* sums) noexcept nogil
    cdef void _score_gate(self) noexcept nogil
    cdef void _open(self, float least, const uint8_t* kept) noexcept nogil
    cdef void _score_labels(self) noexcept nogil
    cdef double _learn_gate(self, const uint8_t* has_node, float step) noexcept nogil
    cdef void _change_gate(self, const uint64_t* rows, int group, float gradient, float step) noexcept nogil
    cdef double _learn_labels(self, const int32_t[:, ::1] gold, float step) noexcept nogil
    cdef void _change_labels(self, const uint64_t* rows, int group, const float* gradients, float step) noexcept nogil
