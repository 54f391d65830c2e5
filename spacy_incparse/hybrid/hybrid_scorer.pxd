# Scores of moves under a perceptron and a generative model together.
from libc.stdint cimport int32_t, uint32_t
from libcpp.vector cimport vector

from spacy_incparse.generative.generative_scorer cimport Probabilities
from spacy_incparse.derivations.left_context cimport N_STRUCTURE_FIELDS, ContextC
from spacy_incparse.derivations.context_map cimport MemoC
from spacy_incparse.perceptron.scorer cimport Scorer
from spacy_incparse.derivations.state cimport SentenceC


# The log probabilities of a generative model in units of a table of weights, whole numbers as these are.
cdef class GenerativeScores:
    cdef readonly object lock
    cdef Probabilities probabilities
    cdef double unit              # of a nat
    cdef MemoC row_memo, word_memo
    cdef vector[int32_t] rows     # by symbol, n_symbols each
    cdef vector[double] distribution  # scratch memory
    cdef const int32_t* row(self, const uint32_t* values) noexcept nogil
    cdef int32_t word(self, const uint32_t* values, int tag, uint32_t event) noexcept nogil
    cdef int32_t _score(self, double probability) noexcept nogil


cdef class HybridScorer(Scorer):
    cdef tuple models
    cdef GenerativeScores current
    cdef SentenceC events         # the sentence with its words numbered as the current model numbers them
    cdef uint32_t[N_STRUCTURE_FIELDS] values   # of the context that was looked up last
