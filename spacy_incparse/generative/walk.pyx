"""Derivations walked through, decision by decision."""

from libc.stdint cimport uint32_t

from spacy_incparse.generative.lattice cimport Lattice
from spacy_incparse.derivations.left_context cimport ContextC, node_values
from spacy_incparse.derivations.moves cimport Moves
from spacy_incparse.derivations.state cimport NONE, STOP, FrameC, closed, opened, outermost, tag_symbol, with_child


cdef class Walk:
    """What is common to all that goes through derivations. root: the symbol of the first constituent."""

    def __init__(self, Moves moves, int root):
        self.moves, self.root = moves, root

    cdef walk(self, Lattice lattice, n_closings, chains, bint complete):
        """Take the decisions of a derivation, one number of closings and one list of symbols a word, in order.

        Each word has one node. complete: the end of the sentence too.
        """
        cdef int i, symbol
        self._start(lattice)
        for i in range(lattice.c.n):
            for _ in range(n_closings[i]):
                self.node(lattice, STOP)
                self._close(lattice)
            for symbol in chains[i]:
                self.node(lattice, symbol)
                self._open(symbol)
            self.node(lattice, tag_symbol(&self.moves.symbols, lattice.c.tags[i]))
            self.word(lattice, i)
            self.stack[self.stack.size() - 1] = with_child(
                &self.stack.back(), tag_symbol(&self.moves.symbols, lattice.c.tags[i]), 0, i, &lattice.c,
                &self.moves.symbols
            )
        while complete:
            self.node(lattice, STOP)
            if self.stack.size() == 2:
                break
            self._close(lattice)

    cdef void node(self, Lattice lattice, int outcome):
        pass

    cdef void word(self, Lattice lattice, int i):
        pass

    cdef void values(self, Lattice lattice, uint32_t* values):
        """Fill in the fields of the context that the next decision is taken in."""
        cdef ContextC context
        cdef size_t n = self.stack.size()
        context.parent = &self.stack[n - 1]
        context.parent2 = &self.stack[max(n, 2) - 2]
        context.parent3 = &self.stack[max(n, 3) - 3]
        context.parent4 = &self.stack[max(n, 4) - 4]
        node_values(&context, &lattice.c, &self.moves.symbols, 0, values)

    cdef void _start(self, Lattice lattice):
        self.stack.clear()
        self.stack.push_back(outermost(NONE, &lattice.c, &self.moves.symbols))
        self.stack.push_back(outermost(self.root, &lattice.c, &self.moves.symbols))

    cdef void _open(self, int symbol):
        cdef FrameC frame = opened(symbol, 0, 0, &self.stack.back())
        self.stack.push_back(frame)

    cdef void _close(self, Lattice lattice):
        cdef FrameC child = self.stack.back()
        self.stack.pop_back()
        self.stack[self.stack.size() - 1] = closed(&self.stack.back(), &child, &lattice.c, &self.moves.symbols)
