"""Beam search (Collins & Roark 2004, section 3.1): linear in the sentence's length in time and memory, no recursion."""

from libc.math cimport INFINITY
from libc.stdint cimport INT64_MAX, INT64_MIN, int32_t, int64_t
from libcpp.algorithm cimport nth_element, sort
from libcpp.vector cimport vector

from spacy_incparse.incremental.moves cimport BracketConstraints
from spacy_incparse.incremental.sentence cimport Sentence
from spacy_incparse.incremental.sentence cimport taken
from spacy_incparse.incremental.left_context cimport ContextC, context_of
from spacy_incparse.incremental.move_effect cimport LowestC, start_arena
from spacy_incparse.incremental.scorer cimport Scorer, SiteC
from spacy_incparse.incremental.state cimport FrameC, ROOT, SentenceC


cdef class IncrementalBeam:
    """Open constituents and constraints of a search."""


cdef bint better(const HypothesisC& a, const HypothesisC& b) noexcept nogil:
    return a.score > b.score or (a.score == b.score and precedes(&a.step, &b.step))


cdef enum:
    TRIM_FACTOR = 4  # candidates are cut down to the beam's size when they are so many times as many


cdef class Beam(IncrementalBeam):
    """The search of one model.

    root: the symbol of the first frame. beam_size: most hypotheses kept after a word. gamma: the filter's width in
    weights, or None for plain top N.
    """

    def __init__(self, Scorer scorer, int root, int beam_size, gamma):
        self.scorer, self.moves = scorer, scorer.moves
        self.root = root
        self.beam_size = beam_size
        self.gamma = INFINITY if gamma is None else gamma * scorer.weights.scale

    def parse(self, Sentence sentence, int k=1, BracketConstraints constraints=None):
        """Return the k best analyses, best first, and how many words were done again without triples.

        An analysis is (score in table units, closings by word, chain ids by word). Under constraints there may be none.
        Threads take turns.
        """
        with self.scorer.lock:
            self.scorer.begin(sentence)
            self.constraints, self.is_constrained = constraints, constraints is not None
            with nogil:
                self.run(&sentence.c)
            self.constraints, self.is_constrained = None, False
            return self._best(k, INT64_MAX), self.n_relaxed

    def parse_beside(self, Beam other, Sentence sentence, int k, bint with_better=False):
        """Return the best analysis as `parse` does, and the k best of another search that score no higher, or of all.

        Both go through the sentence together: with one scorer, what both look at is scored once. Returns (analyses,
        relaxed words) of each. Without an analysis of its own, there are none of the other search.
        """
        cdef int _
        with self.scorer.lock:
            self.scorer.begin(sentence)
            self.scorer.sentence = NULL
            self.scorer.keeps_word = other.scorer is self.scorer
            with nogil:
                self.start(&sentence.c)
                other.start(&sentence.c)
                for _ in range(sentence.c.n):
                    self.advance()
                    other.advance()
                self.finish()
                other.finish()
            self.scorer.keeps_word = False
            own = self._best(1, INT64_MAX)
            others = other._best(k, INT64_MAX if with_better else own[0][0]) if own else []
            return (own, self.n_relaxed), (others, other.n_relaxed)

    cdef list _best(self, int k, int64_t limit):
        """Return the k best analyses that score no higher than a limit."""
        cdef vector[int32_t] n_closings, chain_ids
        cdef size_t rank
        results = []
        for rank in range(self.final.size()):
            if len(results) == k:
                break
            if self.final[rank].score <= limit:
                self.moves_to(self.final[rank].step.previous, &n_closings, &chain_ids)
                results.append((self.final[rank].score, taken(&n_closings), taken(&chain_ids)))
        return results

    def prefix(self, Sentence sentence, int n_words, int k):
        """Return the k best hypotheses after the first words of a sentence, as `parse` does, with nothing closed."""
        cdef vector[int32_t] n_closings, chain_ids
        cdef int here
        with self.scorer.lock:
            self.scorer.begin(sentence)
            with nogil:
                self.start(&sentence.c)
                while <int>self.levels.size() < n_words + 2:
                    self.advance()
            results = []
            for here in range(self.levels[n_words], min(self.levels[n_words + 1], self.levels[n_words] + k)):
                self.moves_to(here, &n_closings, &chain_ids)
                results.append((self.hypotheses[here].score, taken(&n_closings), taken(&chain_ids)))
            return results, self.n_relaxed

    cdef void run(self, const SentenceC* sentence) noexcept nogil:
        self.start(sentence)
        while <int>self.levels.size() < sentence.n + 2:
            self.advance()
        self.finish()

    cdef void start(self, const SentenceC* sentence) noexcept nogil:
        """F_0: one hypothesis, the open root."""
        cdef HypothesisC hypothesis
        self.sentence, self.n_relaxed = sentence, 0
        start_arena(&self.frames, self.root, sentence, &self.moves.symbols)
        self.hypotheses.clear()
        self.levels.clear()
        hypothesis.score, hypothesis.frame, hypothesis.step = 0, ROOT, StepC(-1, 0, -1)
        self.hypotheses.push_back(hypothesis)
        self.levels.push_back(0)
        self.levels.push_back(1)

    cdef void advance(self) noexcept nogil:
        """F_i from F_{i-1}: absorb the next word; where all hypotheses die, once more without triples."""
        cdef int level = <int>self.levels.size() - 2, k
        self._expand_all(level, False)
        if self.candidates.empty():
            self.n_relaxed += 1
            self._expand_all(level, True)
        self._filter()
        for k in range(<int>self.candidates.size()):
            self._build(self.candidates[k], level)
        self.levels.push_back(self.hypotheses.size())

    cdef void finish(self) noexcept nogil:
        """Close all that is open after the last word."""
        cdef int level = <int>self.levels.size() - 2
        self._expand_all(level, False)
        if self.candidates.empty():
            self.n_relaxed += 1
            self._expand_all(level, True)
        sort(self.candidates.begin(), self.candidates.end(), &better)
        self.final = self.candidates

    cdef void _expand_all(self, int level, bint relaxed) noexcept nogil:
        cdef int k, alternative
        self.candidates.clear()
        self.best_candidate = self.bound = INT64_MIN // 2
        self.next_trim = TRIM_FACTOR * <size_t>self.beam_size
        if self.is_constrained:
            self.constraints.start_word(level)
        for alternative in range(self.sentence.first_alternative[level], self.sentence.first_alternative[level + 1]):
            self.scorer.start_word(self.sentence, level, alternative, relaxed)
            for k in range(self.levels[level], self.levels[level + 1]):
                self._expand(k)

    cdef void _expand(self, int32_t number) noexcept nogil:
        """Add all candidates that extend a hypothesis: from the lowest site upward, each chain that fits there."""
        cdef HypothesisC candidate
        cdef LowestC lowest = self.first_site(self.hypotheses[number].frame)
        cdef const FrameC* frame = &lowest.frame
        cdef ContextC context
        cdef SiteC site
        cdef bint at_end = self.scorer.position == self.sentence.n
        candidate.score, candidate.frame, candidate.step = self.hypotheses[number].score, -1, StepC(number, 0, -1)
        while self.allows_site(frame):
            context = context_of(frame, self.frames.data())
            site = self.scorer.site(&context)
            if self.allows_chains(frame):
                self._add_chains(candidate, &site, frame)
            if not site.can_stop or not self.allows_end(frame):
                return
            candidate.score += site.stop_score + self.scorer.close_score(&context)
            if not self.has_next_site(frame, &candidate.step, at_end):
                break
            self.next_site(&lowest, &candidate.step, self.sentence)
        else:
            return
        if at_end and self.is_complete(frame):
            self.candidates.push_back(candidate)

    cdef void _add_chains(self, HypothesisC candidate, const SiteC* site, const FrameC* frame) noexcept nogil:
        """Add a candidate for each chain that the filter may keep on a frame."""
        cdef int64_t total = candidate.score
        cdef int k
        for k in range(site.first, site.first + site.n):
            candidate.score = total + self.scorer.chains[k].score
            if candidate.score < self.bound or candidate.score < self.best_candidate - self.gamma:
                return  # the list is sorted, and the filter would not let the rest pass either
            candidate.step.chain_id = self.scorer.chains[k].chain_id
            if self.allows_chain(frame, candidate.step.chain_id):
                self.best_candidate = max(self.best_candidate, candidate.score)
                self.candidates.push_back(candidate)
                if self.candidates.size() >= self.next_trim:
                    self._trim()

    cdef void _trim(self) noexcept nogil:
        """Drop candidates that the filter would drop by rank, and raise the bound on the score of further ones."""
        self.bound = self._last_score()
        self._drop_below(self.bound)
        self.next_trim = self.candidates.size() + (TRIM_FACTOR - 1) * <size_t>self.beam_size  # ties stay, however many

    cdef void _filter(self) noexcept nogil:
        """FILTER: h_k stays where score(h_k) >= score(h_0) - gamma / k^3 (equation 3), and at most beam_size in all."""
        cdef size_t k, n
        self._keep_best()
        n = self.candidates.size()
        k = 1
        while k < n and self.candidates[k].score >= self.best_candidate - self.gamma / (<double>k * k * k):
            k += 1
        self.candidates.resize(min(k, n))

    cdef void _keep_best(self) noexcept nogil:
        """Sort the candidates that score within gamma of the best, and keep the beam_size best of them."""
        self._drop_below(self.best_candidate - self.gamma)
        if self.candidates.size() > <size_t>self.beam_size:
            self._drop_below(self._last_score())  # sorting thousands to keep a hundred would take a quarter of the time
        sort(self.candidates.begin(), self.candidates.end(), &better)
        self.candidates.resize(min(self.candidates.size(), <size_t>self.beam_size))

    cdef void _drop_below(self, double threshold) noexcept nogil:
        cdef size_t k, n = 0
        for k in range(self.candidates.size()):
            if self.candidates[k].score >= threshold:
                self.candidates[n] = self.candidates[k]
                n += 1
        self.candidates.resize(n)

    cdef int64_t _last_score(self) noexcept nogil:
        """Return the score of the last of the beam_size best candidates, of which there are more."""
        cdef size_t k
        self.scores.resize(self.candidates.size())
        for k in range(self.candidates.size()):
            self.scores[k] = -self.candidates[k].score
        nth_element(self.scores.begin(), self.scores.begin() + (self.beam_size - 1), self.scores.end())
        return -self.scores[self.beam_size - 1]

    cdef void _build(self, HypothesisC hypothesis, int position) noexcept nogil:
        """Build the frames of a survivor and append it."""
        cdef int32_t place = self.hypotheses[hypothesis.step.previous].frame
        hypothesis.frame = self.build(place, &hypothesis.step, position, position, self.sentence)
        self.hypotheses.push_back(hypothesis)

    cdef void moves_to(
        self, int32_t hypothesis, vector[int32_t]* n_closings, vector[int32_t]* chain_ids
    ) noexcept nogil:
        """Follow a hypothesis back to the start. Return its moves from left to right."""
        cdef int32_t here = hypothesis
        cdef size_t n = 0
        while self.hypotheses[here].step.previous >= 0:
            n += 1
            here = self.hypotheses[here].step.previous
        n_closings.resize(n)
        chain_ids.resize(n)
        here = hypothesis
        while n > 0:
            n -= 1
            n_closings[0][n] = self.hypotheses[here].step.n_closings
            chain_ids[0][n] = self.hypotheses[here].step.chain_id
            here = self.hypotheses[here].step.previous
