"""The hybrid's score of a move: a perceptron's, plus a fixed weight times the log probability (section 5)."""

from libc.math cimport log
from libc.stdint cimport int32_t, uint32_t, uint64_t

from spacy_incparse.generative.scorer cimport Probabilities
from spacy_incparse.learning.weights cimport Weights
from spacy_incparse.search.context cimport ContextC, node_values
from spacy_incparse.search.memo cimport memo_clear, memo_find, memo_init, memo_insert
from spacy_incparse.search.moves cimport Moves
from spacy_incparse.search.scorer cimport Scorer
from spacy_incparse.search.sentence cimport Sentence
from spacy_incparse.search.state cimport PAD

cdef enum:
    MAX_ROWS = 100000  # remembered over sentences

cdef double LEAST = 1e-30  # a probability below counts as this one: what cannot be has a score too, if a low one


cdef class GenerativeScores:
    """What one generative model says of outcomes; `unit` is the score of a natural log probability of 1."""

    def __init__(self, Probabilities probabilities, double unit):
        self.probabilities, self.unit = probabilities, unit
        memo_init(&self.memo)

    cdef const int32_t* row(self, const uint32_t* values) noexcept nogil:
        """The scores of all outcomes in a context, by symbol; valid until the next call."""
        cdef uint64_t key = self.probabilities.context_key(values)
        cdef int n = self.probabilities.n_symbols, k
        cdef int32_t found = memo_find(&self.memo, key)
        cdef const double* distribution
        if found >= 0:
            return &self.rows[<size_t>found * n]
        if self.memo.n >= MAX_ROWS:
            memo_clear(&self.memo)
            self.rows.clear()
        memo_insert(&self.memo, key, self.rows.size() // n)
        distribution = self.probabilities.distribution(values)
        for k in range(n):
            self.rows.push_back(self._score(distribution[k]))
        return &self.rows[self.rows.size() - n]

    cdef int32_t word(self, const uint32_t* values, int tag, uint32_t event) noexcept nogil:
        return self._score(self.probabilities.word(values, tag, event))

    cdef int32_t _score(self, double probability) noexcept nogil:
        """A score rounded to a whole number, so that sums are exact; it is never above 0."""
        return -<int32_t>(0.5 - self.unit * log(max(probability, LEAST)))


cdef class HybridScorer(Scorer):
    """A perceptron's scorer with a generative model behind it.

    probabilities: of one or more generative models; a sentence says which one scores it. weight: of a natural log
    probability, in weights of the perceptron.
    """

    def __init__(self, Moves moves, templates, Weights weights, probabilities, double weight):
        super().__init__(moves, templates, weights)
        self.models = tuple(GenerativeScores(one, weight * weights.scale) for one in probabilities)
        self.lock = probabilities[0].lock  # the models' memos serve one search at a time, in whatever thread

    cdef int begin(self, Sentence sentence) except -1:
        """Raises ValueError for a sentence that was not made for a hybrid."""
        if sentence.events.empty():
            raise ValueError("a hybrid's sentence needs its words' numbers in the generative model")
        self.current = self.models[sentence.generative_model]
        self.events = sentence.c
        self.events.words = sentence.events.data() + PAD
        return 0

    cdef void look_up(self, const ContextC* context) noexcept nogil:
        node_values(context, &self.events, &self.moves.symbols, self.position, self.values)
        self.extra = self.current.row(self.values)

    cdef int32_t extra_word(self) noexcept nogil:
        return self.current.word(self.values, self.tag, self.events.words[self.position])
