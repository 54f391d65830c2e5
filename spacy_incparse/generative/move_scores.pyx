"""The probability of a given derivation, move by move."""

from libc.math cimport log
from libc.stdint cimport uint32_t

from spacy_incparse.generative.lattice cimport Lattice
from spacy_incparse.generative.generative_scorer cimport Probabilities
from spacy_incparse.generative.walk cimport Walk
from spacy_incparse.incremental.left_context cimport N_STRUCTURE_FIELDS
from spacy_incparse.incremental.moves cimport Moves
from spacy_incparse.incremental.state cimport STOP


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
