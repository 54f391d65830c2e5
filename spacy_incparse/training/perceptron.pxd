# Derivations as moves of a grammar, their features, and updates towards the gold one.
from libc.stdint cimport int32_t, int64_t, uint32_t
from libcpp.vector cimport vector

from spacy_incparse.learning.weights cimport AveragedWeights
from spacy_incparse.search.beam cimport Beam
from spacy_incparse.search.sentence cimport Sentence
from spacy_incparse.search.state cimport FrameC, SentenceC


# The moves of a derivation, word by word.
cdef struct PrefixC:
    vector[int32_t] n_closings
    vector[int32_t] leaves


cdef class Perceptron:
    cdef readonly Beam beam
    cdef readonly AveragedWeights weights
    cdef int rule
    cdef int64_t margin   # in units of the weight table
    cdef int rival        # rank of the complete parse that gold is compared with
    cdef vector[uint32_t] features, other_features
    cdef int search_gold(self, const SentenceC* sentence, const PrefixC* gold) noexcept nogil
    cdef int _gold_successor(self, int gold_hypothesis, const PrefixC* gold) noexcept nogil
    cdef int _most_violated(
        self, const SentenceC* sentence, const PrefixC* gold, const vector[int32_t]* gold_at, int last
    ) noexcept nogil
    cdef void replay(
        self, const SentenceC* sentence, const PrefixC* path, int first, int last, bint complete,
        vector[uint32_t]* features
    ) noexcept nogil
    cdef int64_t score(self, const vector[uint32_t]* features) noexcept nogil
    cdef bint _leads_by_less(self) noexcept nogil
    cdef void _add_difference(self) noexcept nogil
    cdef bint update(
        self, const SentenceC* sentence, const PrefixC* gold, const PrefixC* guess, int n, bint complete
    ) noexcept nogil
    cdef int _alternative(self, const SentenceC* sentence, int i, const PrefixC* path) noexcept nogil
    cdef void _emit_stop(self, const FrameC* frame, vector[uint32_t]* features) noexcept nogil
    cdef void _emit_chain(self, const FrameC* frame, int32_t leaf, vector[uint32_t]* features) noexcept nogil
