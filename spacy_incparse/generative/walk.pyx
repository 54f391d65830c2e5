"""Derivations walked through, decision by decision."""

from libc.stdint cimport uint32_t

from spacy_incparse.generative.lattice cimport Lattice
from spacy_incparse.incremental.left_context cimport ContextC, context_of, node_values
from spacy_incparse.incremental.move_effect cimport attach_word, end_lowest, lowest_at, open_below, start_arena
from spacy_incparse.incremental.moves cimport Moves
from spacy_incparse.incremental.state cimport ROOT, SENTINEL, STOP, tag_symbol


cdef class Walk:
    """What is common to all that goes through derivations. root: the symbol of the first constituent."""

    def __init__(self, Moves moves, int root):
        self.moves, self.root = moves, root

    cdef walk(self, Lattice lattice, n_closings, chains, bint complete):
        """Take the decisions of a derivation, one number of closings and one list of symbols a word, in order.

        Each word has one node. complete: the end of the sentence too.
        """
        cdef int i, symbol
        start_arena(&self.frames, self.root, &lattice.c, &self.moves.symbols)
        self.lowest = lowest_at(&self.frames, ROOT)
        for i in range(lattice.c.n):
            for _ in range(n_closings[i]):
                self.node(lattice, STOP)
                end_lowest(&self.lowest, self.frames.data(), &lattice.c, &self.moves.symbols)
            for symbol in chains[i]:
                self.node(lattice, symbol)
                open_below(&self.lowest, symbol, i, &self.frames, &lattice.c, &self.moves.symbols)
            self.node(lattice, tag_symbol(&self.moves.symbols, lattice.c.tags[i]))
            self.word(lattice, i)
            attach_word(&self.lowest, lattice.c.tags[i], i, i, &lattice.c, &self.moves.symbols)
        while complete:
            self.node(lattice, STOP)
            if self.lowest.frame.parent == SENTINEL:
                break
            end_lowest(&self.lowest, self.frames.data(), &lattice.c, &self.moves.symbols)

    cdef void node(self, Lattice lattice, int outcome):
        pass

    cdef void word(self, Lattice lattice, int i):
        pass

    cdef void values(self, Lattice lattice, uint32_t* values):
        """Fill in the fields of the context that the next decision is taken in."""
        cdef ContextC context = context_of(&self.lowest.frame, self.frames.data())
        node_values(&context, &lattice.c, &self.moves.symbols, 0, values)
