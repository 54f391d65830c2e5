# Words that may each have several tags.
from libc.stdint cimport uint16_t, uint32_t
from libcpp.vector cimport vector

from spacy_incparse.incremental.state cimport SentenceC


# A word with one of its tags is a node; those of a word lie next to each other. Frames name their heads by nodes, so
# that they know the heads' tags: the functions of derivations/ read sentence.words and sentence.tags at nodes. What
# they read by position is not used here. Nodes are only ever added, so that prefixes may branch.
cdef class Lattice:
    cdef vector[uint32_t] words
    cdef vector[uint16_t] tags
    cdef SentenceC c
