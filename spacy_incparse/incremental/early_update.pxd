# Updates of weights towards the gold derivation, and derivations done again for their features and scores.
from libc.stdint cimport int32_t, int64_t, uint32_t
from libcpp.vector cimport vector

from spacy_incparse.incremental.beam cimport Beam
from spacy_incparse.incremental.sentence cimport Sentence
from spacy_incparse.incremental.move_effect cimport LowestC
from spacy_incparse.incremental.state cimport SentenceC
from spacy_incparse.linear.weights cimport AveragedWeights


# The moves of a derivation, word by word.
cdef struct PrefixC:
    vector[int32_t] n_closings
    vector[int32_t] chain_ids


cdef class Replay:
    cdef Beam beam            # whose frames and scorer are used; a search of its has begun
    cdef LowestC lowest       # open constituent
    cdef vector[uint32_t] features
    cdef void append(
        self, const SentenceC* sentence, const PrefixC* path, int first, int last, bint complete,
        vector[uint32_t]* features
    ) noexcept nogil
    cdef int64_t score(self, const vector[uint32_t]* features) noexcept nogil
    cdef int64_t _take_score(self) noexcept nogil
    cdef void _start_word(self, const SentenceC* sentence, int i, const PrefixC* path) noexcept nogil
    cdef void _stop(self, vector[uint32_t]* features) noexcept nogil
    cdef void _close(self, const SentenceC* sentence) noexcept nogil
    cdef void _end(self, const SentenceC* sentence, vector[uint32_t]* features) noexcept nogil
    cdef void _chain(self, int32_t chain_id, vector[uint32_t]* features) noexcept nogil
    cdef void _attach(self, const SentenceC* sentence, int i, int32_t chain_id) noexcept nogil


cdef int fill(PrefixC* path, n_closings, chain_ids) except -1


cdef class Perceptron:
    cdef readonly Beam beam
    cdef readonly AveragedWeights weights
    cdef readonly Replay replay
    cdef int rule
    cdef int64_t margin   # in units of the weight table
    cdef int rival        # rank of the complete parse that gold is compared with
    cdef vector[uint32_t] features, other_features
    cdef int search_gold(self, const SentenceC* sentence, const PrefixC* gold) noexcept nogil
    cdef int _gold_successor(self, int gold_hypothesis, const PrefixC* gold) noexcept nogil
    cdef int _most_violated(
        self, const SentenceC* sentence, const PrefixC* gold, const vector[int32_t]* gold_at, int last
    ) noexcept nogil
    cdef bint _leads_by_less(self) noexcept nogil
    cdef void _add_difference(self) noexcept nogil
    cdef bint update(
        self, const SentenceC* sentence, const PrefixC* gold, const PrefixC* guess, int n, bint complete
    ) noexcept nogil
