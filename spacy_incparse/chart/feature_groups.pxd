# Templates by what they depend on, and the units of a forest that is being bound to them.
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libcpp.vector cimport vector

from spacy_incparse.chart.bound_features cimport BoundFeatures
from spacy_incparse.chart.forest cimport Forest


# What the features of a group depend on, besides the outcome. Groups up to SPAN are equal for all splits of a rule.
cdef enum Anchor:
    NOWHERE
    START
    END
    SPAN
    WORD
    SPLIT      # the border between the children
    WHOLE      # the span and this border


# A part of a template: a value of the word at an offset from a border (0: i, 1: j, 2: k), or one of `SpanValue`.
cdef struct FieldC:
    int32_t value
    int32_t border
    int32_t offset
    uint64_t coefficient


cdef enum SpanValue:
    LENGTH = 100
    LEFT_LENGTH
    RIGHT_LENGTH
    SHAPE
    TAGS
    SHORT
    MIDDLE
    RANK


# Templates with the same anchor and outcome. Template t has fields[begins[t]:begins[t + 1]].
cdef struct GroupC:
    int32_t anchor
    int32_t n_columns
    vector[uint64_t] biases
    vector[int32_t] begins
    vector[FieldC] fields
    vector[int32_t] columns   # by rule, then by state: see edge_outcomes.columns


# The sentence, as its fields read it.
cdef struct SentenceC:
    int32_t n_words
    const uint32_t* values    # of words, by kind of value
    size_t stride             # from one kind of value to the next
    const uint32_t* ranks     # of lexical rules, by word
    int32_t n_lexical
    vector[uint64_t] shapes   # hashes of the first words' kinds, and of their tags
    vector[uint64_t] tags
    vector[uint64_t] powers


cdef class FeatureGroups:
    cdef readonly int32_t n_rules
    cdef readonly int32_t n_states
    cdef readonly int32_t first_lexical
    cdef readonly int32_t bits
    cdef vector[GroupC] groups
    cdef vector[size_t] n_templates     # by group
    cdef vector[int32_t] run_groups     # the numbers of the groups that are equal for all splits
    cdef vector[int32_t] edge_groups
    # For the sentence that is being bound:
    cdef SentenceC sentence
    cdef vector[vector[uint64_t]] tables       # by group: the epoch and the unit of (place, column)
    cdef vector[uint32_t] epochs               # by group: that of the units that may be used again
    cdef uint32_t epoch                        # counts sentences and spans
    cdef vector[vector[uint32_t]] place_rows   # by group: the first row of each place
    cdef vector[vector[int32_t]] row_spans     # by group and split: the span for which its rows were computed
    cdef int32_t n_spans
    cdef void _start(self, BoundFeatures bound) noexcept nogil
    cdef void _start_epoch(self) noexcept nogil
    cdef void _start_span(self, BoundFeatures bound, int32_t i, int32_t j) noexcept nogil
    cdef void _bind_node(self, BoundFeatures bound, Forest forest, int32_t v) noexcept nogil
    cdef int32_t _run_unit(self, BoundFeatures bound, int32_t g, int32_t number, int32_t i, int32_t j) noexcept nogil
    cdef void _bind_edges(self, BoundFeatures bound, Forest forest, size_t m, int32_t number, int32_t v, int32_t first,
                          int32_t end) noexcept nogil
    cdef int32_t _unit(self, BoundFeatures bound, int32_t g, int32_t place, int32_t column) noexcept nogil
    cdef uint32_t _rows(self, BoundFeatures bound, const GroupC* group, int32_t i, int32_t j, int32_t k,
                        int32_t lexical) noexcept nogil
    cdef uint32_t _value(self, const FieldC* field, int32_t i, int32_t j, int32_t k, int32_t lexical) noexcept nogil
