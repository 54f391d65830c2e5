from libc.stdint cimport int32_t, uint8_t, uint64_t
from libcpp.vector cimport vector

from spacy_incparse.linear.hash_map cimport HashMapC
from spacy_incparse.rerank.families cimport TreeC


# Reads one tree after the other; what it learns of labels is kept. `heads` are the HeadRules, `closed_tags` the tags of
# closed classes of words.
cdef class TreeReader:
    cdef object heads
    cdef frozenset closed_tags
    cdef dict label_numbers             # label as given -> number of its category
    cdef list categories
    cdef vector[uint64_t] label_values  # by number
    cdef vector[uint8_t] label_marks
    cdef HashMapC ranks                 # pair of numbers -> rank and direction of a head

    cdef int read(self, arrays, TreeC* tree) except -1
    cdef int32_t _number(self, label) except -1
    cdef int _find_heads(self, const int32_t* numbers, TreeC* tree) except -1
    cdef int32_t _rank(self, int32_t parent, int32_t child) except -1


cdef int find_rules(TreeC* tree) except -1 nogil
