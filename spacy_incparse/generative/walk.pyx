"""Derivations walked through, decision by decision: what the counts want of them, and their probabilities."""

from libc.math cimport log
from libc.stdint cimport int32_t, uint32_t
from libcpp.vector cimport vector

from spacy_incparse.generative.generative_scorer cimport Probabilities
from spacy_incparse.incremental.left_context cimport ContextC, L01, L10, N_STRUCTURE_FIELDS, context_of, node_values
from spacy_incparse.incremental.move_effect cimport (
    LowestC, attach_word, end_lowest, lowest_at, open_below, start_arena,
)
from spacy_incparse.incremental.moves cimport Moves
from spacy_incparse.incremental.state cimport PAD, ROOT, SENTINEL, STOP, FrameC, tag_symbol


cdef class Lattice:
    """Nodes, each a word's number with a tag's id."""

    def __init__(self):
        self.words.assign(2 * PAD, 0)
        self.tags.assign(2 * PAD, 0)
        self._point()

    def __len__(self):
        return self.c.n

    def push(self, word, tags):
        """Append a word's nodes and give the first of them."""
        first = self.c.n
        for tag in tags:
            self.words.insert(self.words.end() - PAD, <uint32_t>word)
            self.tags.insert(self.tags.end() - PAD, <uint16_t>tag)
        self._point()
        return first

    def _point(self):
        self.c.n = self.words.size() - 2 * PAD
        self.c.words = self.words.data() + PAD
        self.c.classes = self.c.words
        self.c.tags = self.tags.data() + PAD
        self.c.ends_in_question = False
        self.c.is_lattice = True


cdef class Walk:
    """What is common to all that goes through derivations. root: the symbol of the first constituent."""

    cdef Moves moves
    cdef int root
    cdef vector[FrameC] frames
    cdef LowestC lowest  # open constituent

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
        pass  # what a subclass makes of a node's decision,

    cdef void word(self, Lattice lattice, int i):
        pass  # and of a word's

    cdef void values(self, Lattice lattice, uint32_t* values):
        """Fill in the fields of the context that the next decision is taken in."""
        cdef ContextC context = context_of(&self.lowest.frame, self.frames.data())
        node_values(&context, &lattice.c, &self.moves.symbols, 0, values)


cdef class EventLog(Walk):
    """Decisions of derivations, in order, as rows of field values with their outcome.

    `nodes`: rows of (node fields, outcome), where the outcome is a symbol of the search or STOP. `words`: rows of (tag,
    word fields, word). The first node field is doubled, plus 1 where the parent
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


cdef class MoveScores(Walk):
    """Natural log probabilities of moves under trained probabilities."""

    cdef Probabilities probabilities
    cdef double of_closings, of_chain
    cdef list scores

    def __init__(self, Moves moves, int root, Probabilities probabilities):
        super().__init__(moves, root)
        self.probabilities = probabilities

    def scores_of(self, Lattice lattice, n_closings, chains, bint complete):
        """Return the scores of the moves of a lattice with one node a word: (of closings, of the chain) by word.

        complete: the last pair is for the end of the sentence. Threads take turns.
        """
        self.scores = []
        self.of_closings = self.of_chain = 0.0
        with self.probabilities.lock:
            self.walk(lattice, n_closings, chains, complete)
        if complete:
            self.scores.append((self.of_closings, 0.0))
        return self.scores

    cdef void node(self, Lattice lattice, int outcome):
        cdef uint32_t[N_STRUCTURE_FIELDS] values
        cdef double score
        self.values(lattice, values)
        score = log(self.probabilities.distribution(values)[outcome])
        if outcome == STOP:
            self.of_closings += score
        else:
            self.of_chain += score

    cdef void word(self, Lattice lattice, int i):
        cdef uint32_t[N_STRUCTURE_FIELDS] values
        self.values(lattice, values)
        self.of_chain += log(self.probabilities.word(values, lattice.c.tags[i], lattice.c.words[i]))
        self.scores.append((self.of_closings, self.of_chain))
        self.of_closings = self.of_chain = 0.0
