# The base of training and decoding, with the model's structs and the table of word types.
from libc.stdint cimport int32_t, uint32_t
from libcpp.vector cimport vector

from spacy_incparse.tagging.tagger_model cimport ModelC
from spacy_incparse.tagging.tag_search cimport SearchC


cdef class Engine:
    cdef ModelC model
    cdef SearchC search
    cdef object read_fields  # word -> the values of its fields
    cdef dict only_tags  # word -> tag id
    cdef dict type_ids

    cdef int32_t type_of(self, str word) except -1
    cdef int32_t add_type(self, tuple values, int32_t only_tag) except -1
    cdef int add_sentence(self, list words, vector[int32_t]& types) except -1
    cdef void clear_types(self)

cdef enum:
    N_BOUNDARIES = 2  # the types before and after a sentence
