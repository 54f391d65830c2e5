# Two linear classifiers of the spans of a sentence, over hashed features.
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libcpp.vector cimport vector

from spacy_incparse.chart.bracketings cimport Bracketings
from spacy_incparse.chart.span_states cimport SpanStates


cdef enum:  # groups of templates
    BEGIN = 0
    END = 1
    SPAN = 2
    WORD = 3


# Atoms stand in a row of numbers, filled for one span at a time; a template is a list of places in that row.
cdef struct TemplateC:
    uint64_t seed
    int32_t first  # its atoms are atoms[first:last] of the template table
    int32_t last


cdef struct GateC:
    float own   # whether there is a node over a span, whatever the others are
    float tree  # the span's part in the score of a tree without labels


cdef class SpanScorer:
    cdef readonly int32_t n_columns
    cdef readonly int gate_bits
    cdef readonly int label_bits
    cdef int32_t width                    # columns in memory: a multiple of 16
    cdef vector[TemplateC] templates      # for begins, ends, spans and single words, one after the other
    cdef vector[int32_t] atoms
    cdef int32_t bounds[5]                # of the four groups of templates
    cdef vector[float] gate               # two weights per feature, see GateC
    cdef vector[int32_t] highest          # by state of the grammar: the label it needs at its top, or -1
    cdef vector[int32_t] lowest           # and at its bottom
    cdef vector[float] labels             # rows of `width` weights
    # The current sentence
    cdef int32_t n_words
    cdef vector[uint32_t] codes           # by word, with `PADDING` words at both ends: tag, word
    cdef vector[uint32_t] place           # the atoms of the current span
    cdef vector[uint64_t] begin_rows      # hashes of the features of each position as begin, and as end
    cdef vector[uint64_t] end_rows
    cdef vector[GateC] begin_gate         # the sums of their weights
    cdef vector[GateC] end_gate
    cdef vector[float] begin_labels
    cdef vector[float] end_labels
    cdef vector[uint64_t] rows            # hashes of the features of the current span
    cdef vector[float] gate_scores        # by cell
    cdef vector[float] tree_scores
    cdef vector[uint8_t] is_open          # by cell: whether trees may have the span
    cdef Bracketings bracketings
    cdef vector[int32_t] open             # cells, ascending, with their begins and ends
    cdef vector[int32_t] open_begins
    cdef vector[int32_t] open_ends
    cdef vector[float] label_scores       # rows of `width`, by place in `open`
    cdef vector[uint8_t] has_label        # by label + 1, of the current span
    cdef vector[uint8_t] is_kept          # by state
    cdef void _load(self, const uint32_t[:, ::1] codes)
    cdef void _score_positions(self) noexcept nogil
    cdef void _fill_place(self, int32_t i, int32_t j) noexcept nogil
    cdef void _find_rows(self, int group, uint64_t* rows) noexcept nogil
    cdef GateC _gate_sum(self, const uint64_t* rows, int group) noexcept nogil
    cdef void _add_label_rows(self, const uint64_t* rows, int group, float* sums) noexcept nogil
    cdef void _score_gate(self) noexcept nogil
    cdef void _find_posteriors(self, float least, const uint8_t* kept) noexcept nogil
    cdef void _open(self, float least, const uint8_t* kept) noexcept nogil
    cdef void _score_labels(self) noexcept nogil
    cdef void _list_states(self, float least, const int32_t* kept, size_t n_kept, SpanStates found) noexcept nogil
    cdef void _find_labels(self, size_t k, float least) noexcept nogil
    cdef void _forget_kept(self, size_t cell, const int32_t* kept, size_t end) noexcept nogil
