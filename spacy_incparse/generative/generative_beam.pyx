"""Beam search on log probabilities (Roark 2001): linear in the sentence's length in time and memory, no recursion.

All that the search needs to go on from a prefix is in here. What makes vectors longer may raise MemoryError: a beam may
be as wide as a user likes.
"""

from libc.math cimport INFINITY, exp, log
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libcpp.algorithm cimport reverse, sort
from libcpp.vector cimport vector

from spacy_incparse.generative.generative_scorer cimport Probabilities, Scorer, SiteC
from spacy_incparse.generative.walk cimport Lattice
from spacy_incparse.incremental.beam cimport IncrementalBeam, StepC, precedes
from spacy_incparse.incremental.left_context cimport ContextC, context_of
from spacy_incparse.incremental.move_effect cimport LowestC, start_arena
from spacy_incparse.incremental.moves cimport BracketConstraints, Moves
from spacy_incparse.incremental.sentence cimport taken
from spacy_incparse.incremental.state cimport ROOT, SENTINEL, FrameC
from spacy_incparse.linear.hash_map cimport HashMapC, map_clear, map_find, map_init, map_insert
from spacy_incparse.linear.hashing cimport mix64

cdef enum:
    MAX_INT = 0x7FFFFFFF
    N_BINS = 512

cdef double BIN_WIDTH = 0.125
cdef double HEAD_ROOM = 30.0  # a first candidate's distance from the best there may be


# A hypothesis: how the last word was absorbed, and what is open now. Frames are built for survivors only.
# Where analyses are merged that no later word can tell apart, it stands for all of these: `score` is then the log of
# their sum, and its moves are those of the best of them.
cdef struct HypothesisC:
    double score         # log probability
    double best          # log probability of its best analysis
    double entropy       # of its analyses, nats
    double steps         # of the last word's moves, mean over its analyses
    double survivors     # share of its analyses that extend the one that was best before
    int32_t frame        # the lowest open constituent, an index in the arena
    StepC step
    int32_t node         # of the lattice


# The beam after a word: hypotheses[first:last], best first. Levels are only ever added, so that several words may be
# tried after the same prefix. word and before are natural log probabilities of the word given the words before: the sum
# of all extensions of the beam over the sum of the beam, and the same without the words' own probabilities.
cdef struct LevelC:
    int32_t first
    int32_t last
    int32_t best         # the hypothesis with the best analysis
    int32_t n_words
    double word
    double before
    bint relaxed


cdef bint better(const HypothesisC& a, const HypothesisC& b) noexcept nogil:
    return a.score > b.score or (a.score == b.score and precedes(&a.step, &b.step))


cdef void join(HypothesisC* a, const HypothesisC* b) noexcept nogil:
    """Let a stand for both; the moves are those of the one with the better analysis."""
    cdef double share = 1.0 / (1.0 + exp(b.score - a.score)), other = 1.0 - share
    cdef double score = a.score - log(share)
    a.entropy = share * a.entropy + other * b.entropy - share * log(share) - (other * log(other) if other > 0 else 0.0)
    a.steps = share * a.steps + other * b.steps
    a.survivors = share * a.survivors + other * b.survivors
    a.score = score
    if b.best > a.best:
        a.best, a.frame, a.step, a.node = b.best, b.frame, b.step, b.node


cdef class Beam(IncrementalBeam):
    """The search of one model over one sentence and its variants.

    beam_size: most hypotheses kept after a word, 0 for all. gamma: a hypothesis stays where its probability exceeds
    gamma n^3 times that of the best, n the number of better ones; 0 for plain top N. merges: whether analyses are
    merged that no later word can tell apart; all sums stay exact. A level is a beam after some words, given by its
    number; level 0 is the one before the first word.
    """

    cdef Probabilities probabilities
    cdef Scorer scorer
    cdef readonly Lattice lattice
    cdef int beam_size
    cdef int n_candidates            # most hypotheses built for a word, before merging
    cdef bint merges
    cdef double log_gamma            # -infinity: plain top N
    cdef vector[uint64_t] keys       # by frame: a hash of all that later decisions can read of it and of those above
    cdef HashMapC merge_memo
    cdef vector[HypothesisC] hypotheses
    cdef vector[LevelC] levels
    cdef vector[HypothesisC] candidates
    cdef LevelC ending               # of the last `complete`
    cdef double best, cut, mass, mass_before, top
    cdef int32_t[N_BINS] bins        # candidates by score, downwards from `reference`
    cdef double reference

    def __init__(
        self, Moves moves, Probabilities probabilities, int root, int beam_size, double gamma, bint merges=False
    ):
        self.moves, self.probabilities = moves, probabilities
        self.scorer = Scorer(moves, probabilities)
        self.root = root
        self.beam_size = beam_size if beam_size else MAX_INT
        self.n_candidates = min(self.beam_size, MAX_INT // 3) * 3 if merges else self.beam_size
        self.merges = merges
        map_init(&self.merge_memo)
        self.log_gamma = log(gamma) if gamma > 0 else -INFINITY
        self.clear()

    def clear(self, BracketConstraints constraints=None):
        """Forget all words; the next ones are searched under constraints, and their sums are then of no use."""
        self.lattice = Lattice()
        self.constraints, self.is_constrained = constraints, constraints is not None
        start_arena(&self.frames, self.root, &self.lattice.c, &self.moves.symbols)
        self.keys.assign(1, 0)
        self._add_keys()
        self.hypotheses.assign(1, HypothesisC(0.0, 0.0, 0.0, 0.0, 0.0, ROOT, StepC(-1, 0, -1), -1))  # the open root
        self.levels.assign(1, LevelC(0, 1, 0, 0, 0.0, 0.0, False))

    def push(self, int level, word, tags):
        """Absorb a word (its number, ids of its possible tags) after a level; return the number of the new level.

        Threads take turns, here and in all that reads levels: a push of another one may move what is read.
        """
        cdef int32_t first, last
        with self.probabilities.lock:
            first = self.lattice.push(word, tags)
            last = len(self.lattice)
            with nogil:
                self._advance(level, first, last)
            return self.levels.size() - 1

    def complete(self, int level, int k):
        """Return the k best complete analyses of a level's words, best first, and whether triples had to be ignored.

        An analysis is (log probability, closings by word, chain ids by word).
        """
        cdef int rank
        results = []
        with self.probabilities.lock:
            with nogil:
                self._expand_all(level, 0, 0, &self.ending)
                sort(self.candidates.begin(), self.candidates.end(), &better)
            for rank in range(min(k, <int>self.candidates.size())):
                results.append((self.candidates[rank].score, *self._moves_to(self.candidates[rank].step.previous)))
            return results, bool(self.ending.relaxed)

    def analyses(self, int level, int k):
        """Return the k best hypotheses of a level, as `complete` does, with all that is open left open."""
        cdef int32_t here
        cdef int rank
        results = []
        with self.probabilities.lock:
            here = self.levels[level].first
            for rank in range(min(k, self.levels[level].last - here)):
                results.append((self.hypotheses[here + rank].score, *self._moves_to(here + rank)))
        return results

    def is_relaxed(self, int level):
        """Return whether the last word of a level needed more than the grammar's triples."""
        with self.probabilities.lock:
            return bool(self.levels[level].relaxed)

    def measures(self, int level):
        """Return what a level says of its last word, all but the log probabilities expected over the beam.

        Log probability of the word and of its syntactic part (natural), entropy (nats), derivation steps, open
        constituents, phrases above the word, share of the extensions of the previous level's best hypothesis.
        """
        with self.probabilities.lock:
            return self._measures(self.levels[level])

    cdef tuple _measures(self, LevelC here):
        cdef int32_t k, frame
        cdef int n_open, n_phrases
        cdef double p, total = 0.0, entropy = 0.0, steps = 0.0, n_all_open = 0.0, depth = 0.0, survivors = 0.0
        cdef HypothesisC h
        for k in range(here.first, here.last):
            total += exp(self.hypotheses[k].score - self.hypotheses[here.first].score)
        for k in range(here.first, here.last):
            h = self.hypotheses[k]
            p = exp(h.score - self.hypotheses[here.first].score) / total
            if p > 0:
                entropy += p * (h.entropy - log(p))
            n_open, n_phrases, frame = 0, 0, h.frame  # below the root; phrases of the restored tree among them
            while self.frames[frame].parent != SENTINEL:  # the root is copied when it gets a child
                n_open += 1
                n_phrases += not self.moves.is_slash[self.frames[frame].label]
                frame = self.frames[frame].parent
            n_all_open += p * n_open
            depth += p * n_phrases
            steps += p * h.steps
            survivors += p * h.survivors
        return here.word, here.before, entropy, steps, n_all_open, depth, survivors

    def ending_probability(self):
        """Return the natural log probability of the end that the last `complete` found."""
        return self.ending.word

    cdef int _advance(self, int32_t level, int32_t first_node, int32_t last_node) except -1 nogil:
        """Absorb a word with these nodes after a level.

        A candidate h stays where p(h) > p(best) gamma |H|^3, H those kept so far, and a limited number in all.
        """
        cdef LevelC result
        cdef size_t k, n, n_kept = 1
        self._expand_all(level, first_node, last_node, &result)
        sort(self.candidates.begin(), self.candidates.end(), &better)
        n = min(self.candidates.size(), <size_t>self.n_candidates)
        while n_kept < n and self.candidates[n_kept].score > self.best + self.log_gamma + 3 * log(<double>n_kept):
            n_kept += 1
        result.first = <int32_t>self.hypotheses.size()
        for k in range(min(n_kept, n)):
            self._build(self.candidates[k], &self.levels[level])
        if self.merges:
            self._merge(result.first)
        result.last = <int32_t>self.hypotheses.size()
        result.best = result.first
        for k in range(<size_t>result.first, <size_t>result.last):
            if self.hypotheses[k].best > self.hypotheses[result.best].best:
                result.best = <int32_t>k
        self.levels.push_back(result)

    cdef int _expand_all(self, int32_t level, int32_t first_node, int32_t last_node, LevelC* result) except -1 nogil:
        """Collect the candidates of all hypotheses of a level, and begin the level that follows it.

        Where all hypotheses die, once more without triples.
        """
        cdef double beam = 0.0
        cdef bint relaxed
        result.n_words = self.levels[level].n_words + (first_node < last_node)
        if self.is_constrained:
            self.constraints.start_word(self.levels[level].n_words)
        for relaxed in range(2):
            result.relaxed = relaxed
            self.scorer.start_word(&self.lattice.c, first_node, last_node, relaxed)
            beam = self._expand_beam(level)
            if not self.candidates.empty():
                break
        result.word, result.before = log(self.mass / beam), log(self.mass_before / beam)

    cdef double _expand_beam(self, int32_t level) except -1 nogil:
        """Expand all hypotheses; return their sum, and leave in `mass` that of their extensions, both over the best."""
        cdef int32_t k
        cdef double beam = 0.0
        self.candidates.clear()
        self.best = self.cut = -INFINITY
        self.mass = self.mass_before = 0.0
        if self.levels[level].first == self.levels[level].last:
            return beam  # under constraints nothing may be left
        self.top = self.hypotheses[self.levels[level].first].score
        for k in range(N_BINS):
            self.bins[k] = 0
        for k in range(self.levels[level].first, self.levels[level].last):
            beam += exp(self.hypotheses[k].score - self.top)
            self._expand(k)
            self._raise_cut()
        return beam

    cdef int _expand(self, int32_t number) except -1 nogil:
        """Add all candidates that extend a hypothesis: from the lowest site upward, each chain that fits there."""
        cdef HypothesisC candidate
        cdef LowestC lowest = self.first_site(self.hypotheses[number].frame)
        cdef const FrameC* frame = &lowest.frame
        cdef ContextC context
        cdef SiteC site
        cdef double total = self.hypotheses[number].score
        cdef bint at_end = self.scorer.first_node == self.scorer.last_node
        candidate.frame, candidate.node, candidate.step = -1, -1, StepC(number, 0, -1)
        while total >= self.cut and self.allows_site(frame):
            context = context_of(frame, self.frames.data())
            site = self.scorer.site(&context, self.cut - total)
            if self.allows_chains(frame):
                self._add_chains(candidate, &site, total, frame)
            if not site.can_stop or not self.allows_end(frame):
                return 0
            total += site.stop
            if not self.has_next_site(frame, &candidate.step, at_end):
                break
            self.next_site(&lowest, &candidate.step, &self.lattice.c)
        else:
            return 0
        if at_end and self.is_complete(frame):
            candidate.score = total
            self.mass += exp(total - self.top)
            self.mass_before = self.mass
            self.candidates.push_back(candidate)

    cdef int _add_chains(
        self, HypothesisC candidate, const SiteC* site, double total, const FrameC* frame
    ) except -1 nogil:
        """Add a candidate for each chain that the filter may keep on a frame; all of them count for the sums."""
        cdef int32_t k
        cdef double place, share = exp(total - self.top)
        self.mass += share * site.mass
        self.mass_before += share * site.mass_before
        for k in range(site.first, site.first + site.n):
            candidate.score = total + self.scorer.chains[k].score
            if candidate.score < self.cut:
                return 0  # the list is sorted
            candidate.step.chain_id, candidate.node = self.scorer.chains[k].chain_id, self.scorer.chains[k].node
            if self.allows_chain(frame, candidate.step.chain_id):
                if self.best == -INFINITY:
                    self.reference = candidate.score + HEAD_ROOM
                self.best = max(self.best, candidate.score)
                place = (self.reference - candidate.score) / BIN_WIDTH
                self.bins[<int>max(0.0, min(place, N_BINS - 1.0))] += 1
                self.candidates.push_back(candidate)

    cdef void _raise_cut(self) noexcept nogil:
        """Find a score below which the filter keeps nothing, whatever candidates may still come."""
        cdef double edge
        cdef int k, n = 0
        if self.best == -INFINITY:
            return
        self.cut = max(self.cut, self.best + self.log_gamma)
        for k in range(N_BINS - 1):
            n += self.bins[k]
            edge = self.reference - BIN_WIDTH * (k + 1)  # n candidates are better than this
            if n >= self.n_candidates or (n > 0 and edge < self.best + self.log_gamma + 3 * log(<double>n)):
                self.cut = max(self.cut, edge)
                return

    cdef int _build(self, HypothesisC hypothesis, const LevelC* before) except -1 nogil:
        """Build the frames of a survivor and append it."""
        cdef const HypothesisC* previous = &self.hypotheses[hypothesis.step.previous]
        hypothesis.best = hypothesis.score + previous.best - previous.score
        hypothesis.entropy = previous.entropy
        hypothesis.steps = hypothesis.step.n_closings + self.moves.tagged_chains[hypothesis.step.chain_id].n + 2
        hypothesis.survivors = exp(previous.best - previous.score) if hypothesis.step.previous == before.best else 0.0
        hypothesis.frame = self.build(
            previous.frame, &hypothesis.step, before.n_words, hypothesis.node, &self.lattice.c
        )
        self._add_keys()
        self.hypotheses.push_back(hypothesis)

    cdef int _merge(self, int32_t first) except -1 nogil:
        """Let one of all hypotheses with the same key stand for all, and keep the best beam_size."""
        cdef int32_t k, same, last = first
        cdef HypothesisC here
        map_clear(&self.merge_memo)
        for k in range(first, <int32_t>self.hypotheses.size()):
            here = self.hypotheses[k]
            same = map_find(&self.merge_memo, self.keys[here.frame])
            if same >= 0:
                join(&self.hypotheses[same], &here)
            else:
                map_insert(&self.merge_memo, self.keys[here.frame], last)
                self.hypotheses[last] = here
                last += 1
        sort(self.hypotheses.begin() + first, self.hypotheses.begin() + last, &better)
        self.hypotheses.resize(min(last, first + min(self.beam_size, MAX_INT // 2)))

    cdef int _add_keys(self) except -1 nogil:
        """Hash all that the sets, or a later head, can read of the frames appended since the last call."""
        cdef const FrameC* frame
        cdef uint64_t h
        cdef size_t k
        for k in range(self.keys.size(), self.frames.size() if self.merges else 0):
            frame = &self.frames[k]
            h = mix64(
                <uint64_t>frame.label | <uint64_t>frame.child1 << 16
                | <uint64_t>frame.child2 << 32 | <uint64_t>frame.child3 << 48
            )
            h = mix64(h ^ (<uint64_t><uint32_t>frame.head | <uint64_t><uint32_t>frame.outer_head << 32))
            self.keys.push_back(mix64(h ^ frame.head_rank ^ self.keys[frame.parent]))
        return 0

    cdef tuple _moves_to(self, int32_t hypothesis):
        """Follow a hypothesis back to the start. Return its moves from left to right: closings and chain ids."""
        cdef vector[int32_t] n_closings, chain_ids
        while self.hypotheses[hypothesis].step.previous >= 0:
            n_closings.push_back(self.hypotheses[hypothesis].step.n_closings)
            chain_ids.push_back(self.hypotheses[hypothesis].step.chain_id)
            hypothesis = self.hypotheses[hypothesis].step.previous
        reverse(n_closings.begin(), n_closings.end())
        reverse(chain_ids.begin(), chain_ids.end())
        return taken(&n_closings), taken(&chain_ids)
