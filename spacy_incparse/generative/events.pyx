"""The decisions of derivations with all that they may be conditioned on, as the counts want them."""

from libc.stdint cimport int32_t, uint32_t
from libcpp.vector cimport vector

from spacy_incparse.generative.lattice cimport Lattice
from spacy_incparse.search.context cimport L01, L10, N_STRUCTURE_FIELDS, ContextC, node_values
from spacy_incparse.search.moves cimport Moves
from spacy_incparse.search.state cimport STOP, FrameC, closed, opened, sign, tag_symbol, with_child


cdef class EventLog:
    """Decisions of derivations, in order, as rows of field values with their outcome.

    `nodes`: rows of (node fields, outcome), where the outcome is a symbol of the search or STOP. `words`: rows of (tag,
    word fields, word). `sizes`: numbers of rows by derivation. The first node field is doubled, plus 1 where the parent
    has children.
    """

    cdef Moves moves
    cdef int root
    cdef vector[int32_t] node_fields, word_fields
    cdef vector[int32_t] node_rows, word_rows
    cdef vector[FrameC] stack

    def __init__(self, Moves moves, int root, node_fields, word_fields):
        self.moves, self.root = moves, root
        self.node_fields, self.word_fields = node_fields, word_fields

    def add(self, Lattice lattice, n_closings, chains):
        """Add a derivation, one number of closings and one list of symbols a word; each word has one node.

        Gives the numbers of node rows and of word rows so far.
        """
        cdef int i, symbol
        self._start(lattice)
        for i in range(lattice.c.n):
            for _ in range(n_closings[i]):
                self._node(lattice, STOP)
                self._close(lattice)
            for symbol in chains[i]:
                self._node(lattice, symbol)
                self._open(lattice, symbol)
            self._node(lattice, tag_symbol(&self.moves.symbols, lattice.c.tags[i]))
            self._word(lattice, i)
        while True:
            self._node(lattice, STOP)
            if self.stack.size() == 2:
                break
            self._close(lattice)
        return self.n_rows()

    def n_rows(self):
        """Give the numbers of node rows and of word rows."""
        return (
            self.node_rows.size() // (self.node_fields.size() + 1),
            self.word_rows.size() // (self.word_fields.size() + 2)
        )

    def node_bytes(self):
        """Give the node rows as int32 bytes."""
        return (<char*>self.node_rows.data())[: self.node_rows.size() * sizeof(int32_t)]

    def word_bytes(self):
        """Give the word rows as int32 bytes."""
        return (<char*>self.word_rows.data())[: self.word_rows.size() * sizeof(int32_t)]

    cdef _start(self, Lattice lattice):
        cdef FrameC frame
        frame.head = frame.outer_head = -1
        frame = opened(0, 0, 0, &frame)
        sign(&frame, &lattice.c, &self.moves.symbols)
        self.stack.clear()
        self.stack.push_back(frame)
        frame.label = self.root
        self.stack.push_back(frame)

    cdef void _open(self, Lattice lattice, int symbol):
        cdef FrameC frame = opened(symbol, 0, 0, &self.stack.back())
        self.stack.push_back(frame)

    cdef void _close(self, Lattice lattice):
        cdef FrameC child = self.stack.back()
        self.stack.pop_back()
        self.stack[self.stack.size() - 1] = closed(&self.stack.back(), &child, &lattice.c, &self.moves.symbols)

    cdef void _values(self, Lattice lattice, uint32_t* values):
        cdef ContextC context
        cdef size_t n = self.stack.size()
        context.parent = &self.stack[n - 1]
        context.parent2 = &self.stack[max(n, 2) - 2]
        context.parent3 = &self.stack[max(n, 3) - 3]
        context.parent4 = &self.stack[max(n, 4) - 4]
        node_values(&context, &lattice.c, &self.moves.symbols, 0, values)

    cdef void _node(self, Lattice lattice, int outcome):
        cdef uint32_t[N_STRUCTURE_FIELDS] values
        cdef int field
        self._values(lattice, values)
        values[L10] = 2 * values[L10] + (values[L01] != 0)
        for field in self.node_fields:
            self.node_rows.push_back(values[field])
        self.node_rows.push_back(outcome)

    cdef void _word(self, Lattice lattice, int i):
        cdef uint32_t[N_STRUCTURE_FIELDS] values
        cdef int field
        self._values(lattice, values)
        self.word_rows.push_back(lattice.c.tags[i])
        for field in self.word_fields:
            self.word_rows.push_back(values[field])
        self.word_rows.push_back(lattice.c.words[i])
        self.stack[self.stack.size() - 1] = with_child(
            &self.stack.back(), tag_symbol(&self.moves.symbols, lattice.c.tags[i]), 0, i, &lattice.c,
            &self.moves.symbols
        )
