# Scores of moves under a perceptron and a generative model together.
from libc.stdint cimport int32_t, uint32_t, uint64_t

from spacy_incparse.generative.generative_scorer cimport MAX_LEVELS
from spacy_incparse.generative.generative_scorer cimport Probabilities
from spacy_incparse.incremental.left_context cimport N_STRUCTURE_FIELDS, ContextC
from spacy_incparse.linear.hash_map cimport HashMapC
from spacy_incparse.incremental.scorer cimport Scorer


# Scores by the hash of a model, a context and an outcome or word, with the signs turned.
cdef class ScoreMemo:
    cdef readonly object lock
    cdef HashMapC outcomes, words


# The log probabilities of a generative model in units of a table of weights, whole numbers as these are.
cdef class GenerativeScores:
    cdef readonly ScoreMemo memo
    cdef Probabilities probabilities
    cdef double unit              # of a nat
    cdef uint64_t salt            # the model's part of keys
    cdef const uint32_t* values   # of the context that was taken up last
    cdef uint64_t key             # its hash
    cdef int32_t[MAX_LEVELS] path
    cdef int n_found              # known contexts in `path`; -1: not looked up yet
    cdef void take_up(self, const uint32_t* values) noexcept nogil
    cdef int32_t outcome(self, int symbol) noexcept nogil
    cdef uint64_t word_key(self, int tag, uint32_t event) noexcept nogil
    cdef int32_t word(self, int tag, uint32_t event) noexcept nogil
    cdef int32_t _score(self, double probability) noexcept nogil


cdef class HybridScorer(Scorer):
    cdef tuple models
    cdef GenerativeScores current
    cdef const uint32_t* event_words  # the sentence's words, numbered as the current model numbers them
    cdef uint32_t[N_STRUCTURE_FIELDS] values   # of the context that was looked up last
