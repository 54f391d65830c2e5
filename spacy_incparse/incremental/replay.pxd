# A derivation done again, for its features and its score.
from libc.stdint cimport int32_t, int64_t, uint32_t
from libcpp.vector cimport vector

from spacy_incparse.incremental.beam cimport Beam
from spacy_incparse.incremental.move_effect cimport LowestC
from spacy_incparse.incremental.state cimport SentenceC


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
