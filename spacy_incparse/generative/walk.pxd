# A derivation walked through, decision by decision, with the context of each; and words that may each have several
# tags.
from libc.stdint cimport uint16_t, uint32_t
from libcpp.vector cimport vector

from spacy_incparse.incremental.move_effect cimport LowestC
from spacy_incparse.incremental.moves cimport Moves
from spacy_incparse.incremental.state cimport FrameC, SentenceC


# A word with one of its tags is a node; those of a word lie next to each other. Frames name their heads by nodes, so
# that they know the heads' tags: the functions of derivations/ read sentence.words and sentence.tags at nodes. What
# they read by position is not used here. Nodes are only ever added, so that prefixes may branch.
cdef class Lattice:
    cdef vector[uint32_t] words
    cdef vector[uint16_t] tags
    cdef SentenceC c


cdef class Walk:
    cdef Moves moves
    cdef int root
    cdef vector[FrameC] frames
    cdef LowestC lowest          # open constituent
    cdef walk(self, Lattice lattice, n_closings, chains, bint complete)
    cdef void node(self, Lattice lattice, int outcome)   # what a subclass makes of a node's decision,
    cdef void word(self, Lattice lattice, int i)         # and of a word's
    cdef void values(self, Lattice lattice, uint32_t* values)
