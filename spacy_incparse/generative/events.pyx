"""The decisions of derivations with all that they may be conditioned on, as the counts want them."""

from libc.stdint cimport int32_t, uint32_t
from libcpp.vector cimport vector

from spacy_incparse.generative.lattice cimport Lattice
from spacy_incparse.generative.walk cimport Walk
from spacy_incparse.incremental.left_context cimport L01, L10, N_STRUCTURE_FIELDS
from spacy_incparse.incremental.moves cimport Moves


cdef class EventLog(Walk):
    """Decisions of derivations, in order, as rows of field values with their outcome.

    `nodes`: rows of (node fields, outcome), where the outcome is a symbol of the search or STOP. `words`: rows of (tag,
    word fields, word). `sizes`: numbers of rows by derivation. The first node field is doubled, plus 1 where the parent
    has children.
    """

    cdef vector[int32_t] node_fields, word_fields
    cdef vector[int32_t] node_rows, word_rows

    def __init__(self, Moves moves, int root, node_fields, word_fields):
        super().__init__(moves, root)
        self.node_fields, self.word_fields = node_fields, word_fields

    def add(self, Lattice lattice, n_closings, chains):
        """Add a derivation, one number of closings and one list of symbols a word; each word has one node.

        Return the numbers of node rows and of word rows so far.
        """
        self.walk(lattice, n_closings, chains, True)
        return self.n_rows()

    def n_rows(self):
        """Return the numbers of node rows and of word rows."""
        return (
            self.node_rows.size() // (self.node_fields.size() + 1),
            self.word_rows.size() // (self.word_fields.size() + 2)
        )

    def node_bytes(self):
        """Return the node rows as int32 bytes."""
        return (<char*>self.node_rows.data())[: self.node_rows.size() * sizeof(int32_t)]

    def word_bytes(self):
        """Return the word rows as int32 bytes."""
        return (<char*>self.word_rows.data())[: self.word_rows.size() * sizeof(int32_t)]

    cdef void node(self, Lattice lattice, int outcome):
        cdef uint32_t[N_STRUCTURE_FIELDS] values
        cdef int field
        self.values(lattice, values)
        values[L10] = 2 * values[L10] + (values[L01] != 0)
        for field in self.node_fields:
            self.node_rows.push_back(values[field])
        self.node_rows.push_back(outcome)

    cdef void word(self, Lattice lattice, int i):
        cdef uint32_t[N_STRUCTURE_FIELDS] values
        cdef int field
        self.values(lattice, values)
        self.word_rows.push_back(lattice.c.tags[i])
        for field in self.word_fields:
            self.word_rows.push_back(values[field])
        self.word_rows.push_back(lattice.c.words[i])
