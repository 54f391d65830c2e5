"""Beam search and its perceptron: early update and its alternatives (Collins & Roark 2004, 3.1, 4.2, figures 1 and 4).

The search is linear in the sentence's length in time and memory, without recursion.
"""

from libc.math cimport INFINITY, ceil
from libc.stdint cimport INT64_MAX, INT64_MIN, int32_t, int64_t, uint32_t
from libcpp.algorithm cimport nth_element, sort
from libcpp.vector cimport vector

from spacy_incparse.incremental.config import UPDATES

from spacy_incparse.incremental.moves cimport BracketConstraints
from spacy_incparse.incremental.sentence cimport Sentence, taken
from spacy_incparse.incremental.left_context cimport ContextC, context_of
from spacy_incparse.incremental.move_effect cimport LowestC, attach_chain, end_lowest, lowest_at, start_arena
from spacy_incparse.incremental.scorer cimport Scorer, SiteC
from spacy_incparse.incremental.state cimport FrameC, ROOT, SENTINEL, SentenceC
from spacy_incparse.linear.weights cimport AveragedWeights


cdef class IncrementalBeam:
    """Open constituents and constraints of a search."""


# A hypothesis: how the last word was absorbed, and what is open now. Frames are built for survivors only.
cdef struct HypothesisC:
    int64_t score
    int32_t frame        # the lowest open constituent, an index in the arena
    StepC step


cdef bint better(const HypothesisC& a, const HypothesisC& b) noexcept nogil:
    return a.score > b.score or (a.score == b.score and precedes(&a.step, &b.step))


cdef enum:
    TRIM_FACTOR = 4  # candidates are cut down to the beam's size when they are so many times as many


cdef class Beam(IncrementalBeam):
    """The search of one model.

    root: the symbol of the first frame. beam_size: most hypotheses kept after a word. gamma: the filter's width in
    weights, or None for plain top N. window: by how much, in weights, a hypothesis may fall behind the best candidate
    so far by ending constituents, before it ends no more of them; so a word's time does not grow with all that is open.
    None, and under constraints: by any amount.
    """

    cdef Scorer scorer
    cdef const SentenceC* sentence
    cdef int beam_size
    cdef double gamma            # in units of the weight table; infinity: plain top N
    cdef int64_t window          # in units of the weight table
    cdef vector[HypothesisC] hypotheses
    cdef vector[int32_t] levels  # the hypotheses after k words are hypotheses[levels[k]:levels[k + 1]]
    cdef vector[HypothesisC] candidates
    cdef vector[int64_t] scores      # scratch memory
    cdef int64_t best_candidate
    cdef int64_t bound               # candidates below this score are not among the beam_size best
    cdef size_t next_trim            # the number of candidates at which to raise the bound
    cdef vector[HypothesisC] final   # complete analyses, best first; `step.previous`: what was completed
    cdef readonly int n_relaxed      # words, or the end, that were done again without triples

    def __init__(self, Scorer scorer, int root, int beam_size, gamma, window=None):
        self.scorer, self.moves = scorer, scorer.moves
        self.root = root
        self.beam_size = beam_size
        self.gamma = INFINITY if gamma is None else gamma * scorer.weights.scale
        self.window = INT64_MAX // 4 if window is None else <int64_t>(window * scorer.weights.scale)

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
            if candidate.score < self.best_candidate - self.window and not self.is_constrained:
                return
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


# The moves of a derivation, word by word.
cdef struct PrefixC:
    vector[int32_t] n_closings
    vector[int32_t] chain_ids


cdef class Replay:
    """Derivations of a beam's model, as closings and chain ids by word."""

    cdef Beam beam            # whose frames and scorer are used; a search of its has begun
    cdef LowestC lowest       # open constituent
    cdef vector[uint32_t] features

    def __init__(self, Beam beam):
        self.beam = beam

    def features_of(self, Sentence sentence, n_closings, chain_ids):
        """Return the features, as indices of the weight table, of a whole derivation."""
        cdef PrefixC path
        fill(&path, n_closings, chain_ids)
        self.beam.scorer.begin(sentence)
        self.beam.start(&sentence.c)
        self.features.clear()
        self.append(&sentence.c, &path, 0, sentence.c.n, True, &self.features)
        return list(self.features)

    def scores_of(self, Sentence sentence, n_closings, chain_ids):
        """Return the scores, in table units, of the first moves of a sentence: (of closings, of the chain) by word.

        With the moves of all words, the last pair is for the end of the sentence. Threads take turns.
        """
        cdef PrefixC path
        cdef int64_t of_closings
        cdef int i
        fill(&path, n_closings, chain_ids)
        scores = []
        with self.beam.scorer.lock:
            self.beam.scorer.begin(sentence)
            self.beam.start(&sentence.c)
            self.lowest = lowest_at(&self.beam.frames, ROOT)
            self._take_score()
            for i in range(<int>path.chain_ids.size()):
                self._start_word(&sentence.c, i, &path)
                self._end(&sentence.c, path.n_closings[i], &self.features)
                of_closings = self._take_score()
                self._attach(&sentence.c, i, path.chain_ids[i], &self.features)
                scores.append((of_closings, self._take_score()))
            if <int>path.chain_ids.size() == sentence.c.n:
                self._start_word(&sentence.c, sentence.c.n, &path)
                self._end_all(&sentence.c, &self.features)
                scores.append((self._take_score(), 0))
        return scores

    cdef void append(
        self, const SentenceC* sentence, const PrefixC* path, int first, int last, bint complete,
        vector[uint32_t]* features
    ) noexcept nogil:
        """Append the features of the moves at words first..last - 1, and of the closings at the end if complete.

        What of their score is no feature is left in the scorer's `other_total`.
        """
        cdef size_t mark = self.beam.frames.size()
        cdef vector[uint32_t]* here
        cdef int i
        self.beam.scorer.other_total = 0
        self.lowest = lowest_at(&self.beam.frames, ROOT)
        for i in range(last):
            here = NULL
            if i >= first:
                here = features
                self._start_word(sentence, i, path)
            self._end(sentence, path.n_closings[i], here)
            self._attach(sentence, i, path.chain_ids[i], here)
        if complete:
            self._start_word(sentence, last, path)
            self._end_all(sentence, features)
        self.beam.frames.resize(mark)

    cdef int64_t score(self, const vector[uint32_t]* features) noexcept nogil:
        """Return the score of what was appended last, whose features these are, in table units."""
        cdef int64_t total = self.beam.scorer.other_total
        cdef size_t k
        for k in range(features.size()):
            total += self.beam.scorer.table[features[0][k]]
        return total

    cdef int64_t _take_score(self) noexcept nogil:
        """Return the score of what was appended since this was asked last."""
        cdef int64_t total = self.score(&self.features)
        self.features.clear()
        self.beam.scorer.other_total = 0
        return total

    cdef void _start_word(self, const SentenceC* sentence, int i, const PrefixC* path) noexcept nogil:
        """Go to the position before a word, under the tag that the path absorbs it under; the end has one."""
        cdef int k, tag, alternative = sentence.first_alternative[i]
        if i < <int>path.chain_ids.size():
            tag = self.beam.moves.tagged_chains[path.chain_ids[i]].tag
            for k in range(sentence.first_alternative[i], sentence.first_alternative[i + 1]):
                if sentence.alternative_tags[k] == tag:
                    alternative = k
                    break
        self.beam.scorer.start_word(sentence, i, alternative, False)

    cdef void _end(self, const SentenceC* sentence, int n, vector[uint32_t]* features) noexcept nogil:
        """End n constituents, the lowest first. features: NULL to append none."""
        cdef int _
        for _ in range(n):
            if features != NULL:
                self._stop(features)
            end_lowest(&self.lowest, self.beam.frames.data(), sentence, &self.beam.moves.symbols)

    cdef void _end_all(self, const SentenceC* sentence, vector[uint32_t]* features) noexcept nogil:
        """End all that is open, the root last."""
        while self.lowest.frame.parent != SENTINEL:
            self._end(sentence, 1, features)
        self._stop(features)

    cdef void _stop(self, vector[uint32_t]* features) noexcept nogil:
        context = context_of(&self.lowest.frame, self.beam.frames.data())
        self.beam.scorer.emit_stop(&context, features)

    cdef void _attach(
        self, const SentenceC* sentence, int i, int32_t chain_id, vector[uint32_t]* features
    ) noexcept nogil:
        """Put a chain with its word on the lowest constituent. features: NULL to append none."""
        if features != NULL:
            context = context_of(&self.lowest.frame, self.beam.frames.data())
            self.beam.scorer.emit_chain(&context, chain_id, features)
        attach_chain(
            &self.lowest, &self.beam.moves.tagged_chains[chain_id], self.beam.moves.chain_labels.data(), i, i,
            &self.beam.frames, sentence, &self.beam.moves.symbols,
        )


cdef int fill(PrefixC* path, n_closings, chain_ids) except -1:
    path.n_closings = n_closings
    path.chain_ids = chain_ids
    return 0


cdef enum:  # in the order of UPDATES
    EARLY, MAX_VIOLATION, FULL


cdef class Perceptron:
    """Online learning of a beam's weights.

    update: "early" stops at the word where the gold analysis falls out of the beam (section 4.2); "max_violation" goes
    to the word where the best analysis leads the gold one by most (Huang et al. 2012); "full" compares whole parses.
    margin: by how much, in weights, the gold parse has to lead the second best; where it leads by less, there is an
    update against that one. 0: being the best is enough.
    """

    cdef readonly Beam beam
    cdef readonly AveragedWeights weights
    cdef readonly Replay replay
    cdef int rule
    cdef int64_t margin   # in units of the weight table
    cdef int rival        # rank of the complete parse that gold is compared with
    cdef vector[uint32_t] features, other_features

    def __init__(self, Beam beam, AveragedWeights weights, update="early", double margin=0.0):
        self.beam, self.weights, self.replay = beam, weights, Replay(beam)
        self.rule = UPDATES.index(update)
        self.margin = <int64_t>ceil(margin * weights.scale)  # scores are whole: a lead of 3 is less than 3.5

    def learn(self, Sentence sentence, n_closings, chain_ids, int n_candidates=0):
        """Search one sentence and update where the gold moves lose. Counts as a step of the average.

        chain_ids: -1 for a word whose chain the grammar does not have; what comes before it is still learnt from.
        Return whether there was an update; the n_candidates best analyses at its point, each as (closings, chain_ids),
        for repeated use; and whether they are whole parses. Where gold was best there are no candidates.
        """
        cdef PrefixC gold, guess
        cdef int point, n
        cdef int32_t best
        cdef bint updated = False
        fill(&gold, n_closings, chain_ids)
        self.beam.scorer.begin(sentence)
        with nogil:
            point = self.search_gold(&sentence.c, &gold)
            n = min(point, sentence.c.n)
            if point >= 0:
                if point > sentence.c.n:
                    best = self.beam.final[self.rival].step.previous
                else:
                    best = self.beam.levels[n]
                self.beam.moves_to(best, &guess.n_closings, &guess.chain_ids)
                updated = self.update(&sentence.c, &gold, &guess, n, point > sentence.c.n)
        candidates = self._candidates(point, n, n_candidates) if updated and n_candidates else []
        self.weights.step()
        return updated, candidates, point > n

    def _candidates(self, int point, int n, int n_candidates):
        cdef vector[int32_t] n_closings, chain_ids
        cdef int k
        if point > n:
            chosen = [self.beam.final[k].step.previous for k in range(min(n_candidates, <int>self.beam.final.size()))]
        else:
            first, behind = self.beam.levels[n], self.beam.levels[n + 1]
            chosen = list(range(first, min(first + n_candidates, behind)))
        result = []
        for hypothesis in chosen:
            self.beam.moves_to(hypothesis, &n_closings, &chain_ids)
            result.append((list(n_closings), list(chain_ids)))
        return result

    def relearn(self, Sentence sentence, gold_moves, candidates, bint complete):
        """Update towards gold where another of the stored candidates scores higher (figure 4, step 2).

        gold_moves: (closings, chain_ids) of the whole sentence; the candidates' length says how much of it counts.
        Return whether there was an update.
        """
        cdef PrefixC gold, guess
        cdef int64_t best_score = INT64_MIN, score
        cdef int n = len(candidates[0][0])
        best = None
        self.beam.scorer.begin(sentence)
        self.beam.start(&sentence.c)  # there are no frames before the first search
        for candidate in candidates:
            fill(&guess, candidate[0], candidate[1])
            self.features.clear()
            self.replay.append(&sentence.c, &guess, 0, n, complete, &self.features)
            score = self.replay.score(&self.features)
            if score > best_score:
                best_score, best = score, candidate
        fill(&gold, gold_moves[0], gold_moves[1])
        self.features.clear()
        self.replay.append(&sentence.c, &gold, 0, n, complete, &self.features)
        if self.replay.score(&self.features) > best_score:
            return False
        fill(&guess, best[0], best[1])
        return self.update(&sentence.c, &gold, &guess, n, complete)

    def features_of(self, Sentence sentence, n_closings, chain_ids):
        """Return the features, as indices of the weight table, of a whole derivation."""
        return self.replay.features_of(sentence, n_closings, chain_ids)

    cdef int search_gold(self, const SentenceC* sentence, const PrefixC* gold) noexcept nogil:
        """Search while following the gold moves, and return the point of the update.

        That is the number of words whose moves are compared, n + 1 for complete parses, or -1 where gold is best.
        """
        cdef vector[int32_t] gold_at   # the gold hypothesis after each word; -1 where it fell out
        cdef int n = 0, gold_hypothesis = 0
        self.beam.start(sentence)
        gold_at.push_back(0)
        while n < sentence.n:
            if gold.chain_ids[n] < 0:
                # The grammar lacks this word's chain: what comes before it is compared.
                if self.rule == MAX_VIOLATION:
                    return self._most_violated(sentence, gold, &gold_at, n)
                return -1 if self.beam.levels[n] == gold_hypothesis else n
            self.beam.advance()
            n += 1
            gold_hypothesis = self._gold_successor(gold_hypothesis, gold)
            gold_at.push_back(gold_hypothesis)
            if gold_hypothesis < 0 and self.rule == EARLY:
                return n
        self.beam.finish()
        self.rival = 0
        if (
            self.margin and self.beam.final.size() > 1 and self.beam.final[0].step.previous == gold_hypothesis
            and self.beam.final[0].score - self.beam.final[1].score < self.margin
        ):
            self.rival = 1
            return n + 1
        if self.rule == MAX_VIOLATION:
            return self._most_violated(sentence, gold, &gold_at, n + 1)
        return -1 if self.beam.final[0].step.previous == gold_hypothesis else n + 1

    cdef int _gold_successor(self, int gold_hypothesis, const PrefixC* gold) noexcept nogil:
        cdef int word = <int>self.beam.levels.size() - 3, k
        if gold_hypothesis < 0:
            return -1
        for k in range(self.beam.levels[word + 1], self.beam.levels[word + 2]):
            if (
                self.beam.hypotheses[k].step.previous == gold_hypothesis
                and self.beam.hypotheses[k].step.chain_id == gold.chain_ids[word]
                and self.beam.hypotheses[k].step.n_closings == gold.n_closings[word]
            ):
                return k
        return -1

    cdef int _most_violated(
        self, const SentenceC* sentence, const PrefixC* gold, const vector[int32_t]* gold_at, int last
    ) noexcept nogil:
        """Return the point, at most `last`, where the best analysis leads gold by most.

        A lead of 0 counts, or learning would never start.
        """
        cdef int n, point = -1
        cdef int64_t gold_score = 0, lead, most = -1
        for n in range(1, last + 1):
            self.features.clear()
            self.replay.append(
                sentence, gold, min(n - 1, sentence.n), min(n, sentence.n), n > sentence.n, &self.features
            )
            gold_score += self.replay.score(&self.features)
            if n <= sentence.n:
                lead = self.beam.hypotheses[self.beam.levels[n]].score - gold_score
                if self.beam.levels[n] == gold_at[0][n]:
                    continue
            else:
                lead = self.beam.final[0].score - gold_score
                if self.beam.final[0].step.previous == gold_at[0][sentence.n]:
                    continue
            if lead > most:
                most, point = lead, n
        return point

    cdef bint update(
        self, const SentenceC* sentence, const PrefixC* gold, const PrefixC* guess, int n, bint complete
    ) noexcept nogil:
        """w += Phi(gold) - Phi(guess) (figure 1) over the first n words; what both have in common cancels out."""
        cdef int first = 0
        while (
            first < n
            and gold.n_closings[first] == guess.n_closings[first]
            and gold.chain_ids[first] == guess.chain_ids[first]
        ):
            first += 1
        if first == n:
            return False
        self.features.clear()
        self.other_features.clear()
        self.replay.append(sentence, gold, first, n, complete, &self.features)
        self.replay.append(sentence, guess, first, n, complete, &self.other_features)
        self._add_difference()
        return True

    cdef void _add_difference(self) noexcept nogil:
        """Change each weight once, by how much oftener its feature is in `features` than in `other_features`."""
        cdef size_t k = 0, other = 0, n, n_others
        cdef uint32_t feature
        cdef int change
        sort(self.features.begin(), self.features.end())
        sort(self.other_features.begin(), self.other_features.end())
        n, n_others = self.features.size(), self.other_features.size()
        while k < n or other < n_others:
            if other == n_others or (k < n and self.features[k] < self.other_features[other]):
                feature = self.features[k]
            else:
                feature = self.other_features[other]
            change = 0
            while k < n and self.features[k] == feature:
                change += 1
                k += 1
            while other < n_others and self.other_features[other] == feature:
                change -= 1
                other += 1
            if change:
                self.weights.add(feature, change)
