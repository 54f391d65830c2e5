from libc.stdint cimport int32_t, uint64_t
from libcpp.vector cimport vector

from spacy_incparse.rerank.packed_trees cimport TreeC

cdef int ngram_trees(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil
cdef int head_trees(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil
