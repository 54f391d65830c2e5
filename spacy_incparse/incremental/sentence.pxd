# A sentence, and whole numbers such as the moves of a derivation, in compiled memory.
from libc.stdint cimport int32_t, uint16_t, uint32_t
from libcpp.vector cimport vector

from spacy_incparse.incremental.state cimport SentenceC


cdef class Sentence:
    cdef vector[uint32_t] words, classes, clusters, groups
    cdef vector[uint32_t] generative_words   # the words in the vocabulary of a generative model; empty without one
    cdef readonly int generative_model
    cdef vector[uint16_t] tags
    cdef vector[int32_t] first_alternative
    cdef vector[uint16_t] alternative_tags, tag_ranks
    cdef SentenceC c


cdef class IntVector:
    cdef vector[int32_t] values


cdef IntVector taken(vector[int32_t]* values)
cdef int copy_ints(object source, vector[int32_t]* target) except -1
