# Updates of weights towards the gold derivation.
from libc.stdint cimport int32_t, int64_t, uint32_t
from libcpp.vector cimport vector

from spacy_incparse.linear.weights cimport AveragedWeights
from spacy_incparse.incremental.beam cimport Beam
from spacy_incparse.incremental.replay cimport PrefixC, Replay
from spacy_incparse.incremental.encoded_sentence cimport Sentence
from spacy_incparse.incremental.state cimport SentenceC


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
