"""The hybrid's score of a move: a perceptron's, plus a fixed weight times the log probability (section 5)."""

from libc.math cimport log
from libc.stdint cimport int32_t, uint32_t, uint64_t

from spacy_incparse.generative.generative_scorer cimport Probabilities
from spacy_incparse.learning.weights cimport Weights
from spacy_incparse.derivations.left_context cimport ContextC, node_values
from spacy_incparse.derivations.context_map cimport memo_clear, memo_find, memo_init, memo_insert
from spacy_incparse.derivations.moves cimport Moves
from spacy_incparse.perceptron.scorer cimport Scorer
from spacy_incparse.derivations.encoded_sentence cimport Sentence
from spacy_incparse.derivations.state cimport PAD

cdef enum:
    MAX_ROWS = 100000  # remembered over sentences, as are
    MAX_WORDS = 500000

cdef double LEAST = 1e-30  # a probability below counts as this one: what cannot be has a score too, if a low one


cdef class GenerativeScores:
    """What one generative model says of outcomes; `unit` is the score of a natural log probability of 1.

    lock: what is remembered serves one search at a time, in whatever thread.
    """

    def __init__(self, Probabilities probabilities, double unit, lock):
        self.lock = lock
        self.probabilities, self.unit = probabilities, unit
        self.distribution.resize(probabilities.n_symbols)
        memo_init(&self.row_memo)
        memo_init(&self.word_memo)

    cdef const int32_t* row(self, const uint32_t* values) noexcept nogil:
        """The scores of all outcomes in a context, by symbol; valid until the next call."""
        cdef uint64_t key = self.probabilities.context_key(values)
        cdef size_t n = self.distribution.size(), k
        cdef int32_t found = memo_find(&self.row_memo, key)
        cdef int32_t* row
        if found >= 0:
            return &self.rows[found * n]
        if self.row_memo.n >= MAX_ROWS:
            memo_clear(&self.row_memo)
            self.rows.clear()
        memo_insert(&self.row_memo, key, self.rows.size() // n)
        self.rows.resize(self.rows.size() + n)
        row = &self.rows[self.rows.size() - n]
        self.probabilities.compute_distribution(values, self.distribution.data())
        for k in range(n):
            row[k] = self._score(self.distribution[k])
        return row

    cdef int32_t word(self, const uint32_t* values, int tag, uint32_t event) noexcept nogil:
        """The score of a word under a tag that is put into a context."""
        cdef uint64_t key = self.probabilities.word_key(values, tag, event)
        cdef int32_t found = memo_find(&self.word_memo, key)
        if found >= 0:
            return -found  # a memo has no room for numbers below 0, a score is never above
        if self.word_memo.n >= MAX_WORDS:
            memo_clear(&self.word_memo)
        found = -self._score(self.probabilities.compute_word(values, tag, event))
        memo_insert(&self.word_memo, key, found)
        return -found

    cdef int32_t _score(self, double probability) noexcept nogil:
        """A score rounded to a whole number, so that sums are exact; it is never above 0."""
        return -<int32_t>(0.5 - self.unit * log(max(probability, LEAST)))


cdef class HybridScorer(Scorer):
    """A perceptron's scorer with a generative model behind it.

    models: `GenerativeScores` of one or more models under one lock; a sentence says which one scores it. Scorers may
    share them.
    """

    def __init__(self, Moves moves, templates, Weights weights, models):
        super().__init__(moves, templates, weights)
        self.models = models
        self.lock = models[0].lock

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
