"""The hybrid's score of a move: a perceptron's, plus a fixed weight times the log probability (section 5)."""

from threading import Lock

from libc.math cimport log
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.string cimport memcpy

from spacy_incparse.generative.generative_scorer cimport MAX_LEVELS, Probabilities
from spacy_incparse.incremental.left_context cimport N_STRUCTURE_FIELDS, ContextC, head_words
from spacy_incparse.incremental.moves cimport Moves
from spacy_incparse.incremental.scorer cimport Scorer
from spacy_incparse.incremental.sentence cimport Sentence
from spacy_incparse.incremental.state cimport PAD, SHIFT, tag_symbol
from spacy_incparse.linear.hash_map cimport HashMapC, map_clear, map_find, map_init, map_insert, map_prefetch
from spacy_incparse.linear.hashing cimport mix64
from spacy_incparse.linear.weights cimport Weights

cdef enum:
    MAX_OUTCOMES = 500000  # remembered over sentences, as are
    MAX_WORDS = 250000

cdef double LEAST = 1e-30  # a probability below counts as this one: what cannot be has a score too, if a low one


cdef inline uint64_t outcome_key(uint64_t context, int symbol) noexcept nogil:
    return mix64(context ^ <uint64_t>symbol)


cdef class ScoreMemo:
    """Scores that were computed before, of all models that share it; for one search at a time, in whatever thread."""

    cdef readonly object lock
    cdef HashMapC outcomes, words  # by the hash of a model, a context and an outcome or word, with the signs turned

    def __init__(self):
        self.lock = Lock()
        map_init(&self.outcomes)
        map_init(&self.words)


cdef class GenerativeScores:
    """The log probabilities of one generative model in units of a table of weights, whole numbers as these are.

    unit: the score of a natural log probability of 1. number: the model's among those that share the memo.
    """

    cdef readonly ScoreMemo memo
    cdef Probabilities probabilities
    cdef double unit
    cdef uint64_t salt            # the model's part of keys
    cdef const uint32_t* values   # of the context that was taken up last
    cdef uint64_t key             # its hash
    cdef int32_t[MAX_LEVELS] path
    cdef int n_found              # known contexts in `path`; -1: not looked up yet

    def __init__(self, Probabilities probabilities, double unit, ScoreMemo memo, int number=0):
        self.probabilities, self.unit, self.memo = probabilities, unit, memo
        self.salt = mix64(number)

    cdef void take_up(self, const uint32_t* values) noexcept nogil:
        """Go to a context, whose values stay where they are until the next one."""
        self.values, self.n_found = values, -1
        self.key = self.salt ^ self.probabilities.context_key(values)

    cdef int32_t outcome(self, int symbol) noexcept nogil:
        """Return the score of an outcome of the context."""
        cdef uint64_t key = outcome_key(self.key, symbol)
        cdef int32_t found = map_find(&self.memo.outcomes, key)
        if found >= 0:
            return -found  # a memo has no room for numbers below 0, a score is never above
        if self.memo.outcomes.n >= MAX_OUTCOMES:
            map_clear(&self.memo.outcomes)
        if self.n_found < 0:
            self.n_found = self.probabilities.node_path(self.values, self.path)
        found = -self._score(self.probabilities.outcome(self.values, self.path, self.n_found, symbol))
        map_insert(&self.memo.outcomes, key, found)
        return -found

    cdef int32_t word(self, int tag, uint32_t event) noexcept nogil:
        """Return the score of a word under a tag that is put into the context."""
        cdef uint64_t key = self.word_key(tag, event)
        cdef int32_t found = map_find(&self.memo.words, key)
        if found >= 0:
            return -found
        if self.memo.words.n >= MAX_WORDS:
            map_clear(&self.memo.words)
        found = -self._score(self.probabilities.compute_word(self.values, tag, event))
        map_insert(&self.memo.words, key, found)
        return -found

    cdef uint64_t word_key(self, int tag, uint32_t event) noexcept nogil:
        return self.salt ^ self.probabilities.word_key(self.values, tag, event)

    cdef int32_t _score(self, double probability) noexcept nogil:
        """Return a score rounded to a whole number, so that sums are exact; it is never above 0."""
        return -<int32_t>(0.5 - self.unit * log(max(probability, LEAST)))


cdef class HybridScorer(Scorer):
    """A perceptron's scorer with a generative model beside it.

    models: `GenerativeScores` of one or more models that share a memo; a sentence says which one scores it. Scorers
    may share them.
    """

    cdef tuple models
    cdef GenerativeScores current
    cdef const uint32_t* event_words           # the sentence's words, numbered as the current model numbers them
    cdef uint32_t[N_STRUCTURE_FIELDS] values   # of the context that was looked up last

    def __init__(self, Moves moves, templates, Weights weights, models):
        super().__init__(moves, templates, weights)
        self.models = models
        self.lock = models[0].memo.lock
        self.has_other = True

    cdef int begin(self, Sentence sentence) except -1:
        """Raises ValueError for a sentence that was not made for a hybrid."""
        if sentence.generative_words.empty():
            raise ValueError("a hybrid's sentence needs its words' numbers in the generative model")
        self.current = self.models[sentence.generative_model]
        self.event_words = sentence.generative_words.data() + PAD
        return 0

    cdef void look_up(self, const ContextC* context, const uint32_t* values) noexcept nogil:
        memcpy(self.values, values, sizeof(self.values))
        head_words(context, self.event_words, self.values)
        self.current.take_up(self.values)

    cdef void expect(self, int symbol) noexcept nogil:
        if symbol == SHIFT:
            symbol = tag_symbol(&self.moves.symbols, self.tag)
            map_prefetch(
                &self.current.memo.words, self.current.word_key(self.tag, self.event_words[self.position])
            )
        map_prefetch(&self.current.memo.outcomes, outcome_key(self.current.key, symbol))

    cdef int32_t other_score(self, int symbol) noexcept nogil:
        return self.current.outcome(symbol)

    cdef int32_t other_word(self) noexcept nogil:
        return self.current.word(self.tag, self.event_words[self.position])
