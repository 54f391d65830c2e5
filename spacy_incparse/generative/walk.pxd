# A derivation walked through, decision by decision, with the context of each.
from libc.stdint cimport uint32_t
from libcpp.vector cimport vector

from spacy_incparse.generative.lattice cimport Lattice
from spacy_incparse.incremental.move_effect cimport LowestC
from spacy_incparse.incremental.moves cimport Moves
from spacy_incparse.incremental.state cimport FrameC


cdef class Walk:
    cdef Moves moves
    cdef int root
    cdef vector[FrameC] frames
    cdef LowestC lowest          # open constituent
    cdef walk(self, Lattice lattice, n_closings, chains, bint complete)
    cdef void node(self, Lattice lattice, int outcome)   # what a subclass makes of a node's decision,
    cdef void word(self, Lattice lattice, int i)         # and of a word's
    cdef void values(self, Lattice lattice, uint32_t* values)
