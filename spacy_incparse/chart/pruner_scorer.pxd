# Linear classifiers of the spans of a sentence, over hashed features.
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libcpp.vector cimport vector

from spacy_incparse.chart.rule_tables cimport SpanStates


cdef enum:  # groups of templates
    BEGIN = 0
    END = 1
    GATE = 2
    SPAN = 3
    WORD = 4
    N_GROUPS = 5


# The atoms of one span stand in a row of numbers; a template is a list of places in that row.
cdef struct TemplateC:
    uint64_t seed
    int32_t first  # its atoms are atoms[first:last] of the template table
    int32_t last


# Something whose labels may be looked at: a word, or a span that passed the gate.
cdef struct OpenC:
    size_t cell
    int32_t begin
    int32_t end


# The probabilities of spans in all binary trees without labels.
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


cdef class PrunerScorer:
    cdef readonly int32_t n_columns
    cdef int gate_bits
    cdef int tree_bits
    cdef int label_bits
    cdef int32_t width                    # columns in memory
    cdef vector[TemplateC] templates      # by group
    cdef int32_t bounds[6]                # of the groups
    cdef int32_t n_templates[5]
    cdef int32_t stride                   # of `rows`: the largest number of templates of a group
    cdef vector[int32_t] atoms
    cdef vector[float] gate               # a weight per feature
    cdef vector[float] tree
    cdef vector[float] labels             # rows of `width` weights
    cdef vector[int32_t] highest          # by state of the grammar: the label it needs at its top, or -1
    cdef vector[int32_t] lowest           # and at its bottom
    # The current sentence
    cdef int32_t n_words
    cdef vector[uint32_t] codes           # by word, with `PAD` words at both ends: tag, word
    cdef vector[uint32_t] place           # the atoms of the current span
    cdef vector[uint64_t] begin_rows      # hashes of the features of each position as begin, and as end
    cdef vector[uint64_t] end_rows
    cdef vector[float] begin_gate         # the sums of their weights
    cdef vector[float] end_gate
    cdef vector[float] begin_tree
    cdef vector[float] end_tree
    cdef vector[float] begin_labels
    cdef vector[float] end_labels
    cdef vector[float] gate_scores        # by cell
    cdef vector[float] tree_scores
    cdef vector[OpenC] open               # by cell
    cdef vector[uint8_t] is_open          # by cell: whether trees may have the span
    cdef vector[uint64_t] rows            # hashes of the features of what is open, `stride` each
    cdef Bracketings bracketings
    cdef vector[size_t] chosen            # of `open`: those whose labels are looked at
    cdef vector[float] label_scores       # rows of `width`, by place in `chosen`
    cdef vector[uint8_t] has_label        # by label + 1, of the current span
    cdef vector[uint8_t] is_kept          # by state, over the current span
    cdef void _load(self, const uint32_t[:, ::1] codes)
    cdef void _fill_place(self, int32_t i, int32_t j) noexcept nogil
    cdef void _find_rows(self, int group, uint64_t* rows) noexcept nogil
    cdef void _add_labels(self, const uint64_t* rows, int group, float* sums) noexcept nogil
    cdef void _score_positions(self) noexcept nogil
    cdef void _score_gate(self) noexcept nogil
    cdef void _score_trees(self, float least, const uint8_t* kept) noexcept nogil
    cdef void _find_open(self, float least, const uint8_t* kept) noexcept nogil
    cdef void _choose(self, float least, const uint8_t* kept) noexcept nogil
    cdef void _score_labels(self) noexcept nogil
    cdef void _fetch_labels(self, size_t k) noexcept nogil
    cdef void _list_states(self, float least, const int32_t* kept, size_t n_kept, SpanStates found) noexcept nogil
    cdef void _find_labels(self, size_t k, float least) noexcept nogil


cdef inline size_t row_of(uint64_t hashed, int bits) noexcept nogil:
    """Return the row of a feature in a table of 2**bits rows."""
    return hashed & ((<uint64_t>1 << bits) - 1)


cdef inline int group_of(const OpenC* span) noexcept nogil:
    """Return the group of templates of a word or of several."""
    return WORD if span.end == span.begin + 1 else SPAN
