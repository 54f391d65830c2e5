from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from spacy_incparse.rerank.packed_trees cimport TreeC

cdef int node_signatures(const TreeC* tree, vector[uint64_t]* found) except -1 nogil
cdef int subtree_signatures(const TreeC* tree, vector[uint64_t]* found) except -1 nogil
