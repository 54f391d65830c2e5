"""Beam search on log probabilities (Roark 2001): linear in the sentence's length in time and memory, no recursion."""

from libc.math cimport INFINITY, exp, log
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libcpp.algorithm cimport reverse, sort

from spacy_incparse.generative.walk cimport Lattice
from spacy_incparse.generative.generative_scorer cimport Probabilities, Scorer, SiteC
from spacy_incparse.incremental.sentence cimport taken
from spacy_incparse.incremental.left_context cimport ContextC, context_of
from spacy_incparse.linear.hashing cimport mix64
from spacy_incparse.incremental.moves cimport BracketConstraints
from spacy_incparse.linear.hash_map cimport map_clear, map_find, map_init, map_insert
from spacy_incparse.incremental.beam cimport IncrementalBeam, StepC, precedes
from spacy_incparse.incremental.move_effect cimport LowestC, start_arena
from spacy_incparse.incremental.moves cimport Moves
from spacy_incparse.incremental.state cimport ROOT, SENTINEL, FrameC

cdef enum:
    MAX_INT = 0x7FFFFFFF

cdef double BIN_WIDTH = 0.125
cdef double HEAD_ROOM = 30.0  # a first candidate's distance from the best there may be


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
        self.start()

    def push(self, int level, word, tags):
        """Absorb a word (its number, ids of its possible tags) after a level; return the number of the new level.

        Threads take turns, here and in all that reads levels: a push of another one may move what is read.
        """
        cdef int32_t result, first, last
        with self.probabilities.lock:
            first = self.lattice.push(word, tags)
            last = len(self.lattice)
            with nogil:
                result = self.advance(level, first, last)
        return result

    def complete(self, int level, int k):
        """Return the k best complete analyses of a level's words, best first, and whether triples had to be ignored.

        An analysis is (log probability, closings by word, chain ids by word).
        """
        cdef int rank
        results = []
        with self.probabilities.lock:
            with nogil:
                self.finish(level)
            for rank in range(min(k, <int>self.final.size())):
                results.append((self.final[rank].score, *self.moves_to(self.final[rank].step.previous)))
            return results, bool(self.ending.relaxed)

    def analyses(self, int level, int k):
        """Return the k best hypotheses of a level, as `complete` does, with all that is open left open."""
        cdef int32_t here
        cdef int rank
        results = []
        with self.probabilities.lock:
            here = self.levels[level].first
            for rank in range(min(k, self.levels[level].last - here)):
                results.append((self.hypotheses[here + rank].score, *self.moves_to(here + rank)))
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
        cdef int32_t k
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
            self._count_open(h.frame, &n_open, &n_phrases)
            n_all_open += p * n_open
            depth += p * n_phrases
            steps += p * h.steps
            survivors += p * h.survivors
        return here.word, here.before, entropy, steps, n_all_open, depth, survivors

    def ending_probability(self):
        """Return the natural log probability of the end that the last `complete` found."""
        return self.ending.word

    cdef void _count_open(self, int32_t frame, int* n_open, int* n_phrases) noexcept nogil:
        """Count the open constituents below the root, and those of them that are phrases of the restored tree."""
        n_open[0] = n_phrases[0] = 0
        while self.frames[frame].parent != SENTINEL:  # the root is copied when it gets a child
            n_open[0] += 1
            n_phrases[0] += not self.moves.is_slash[self.frames[frame].label]
            frame = self.frames[frame].parent

    cdef int start(self) except -1 nogil:
        """One hypothesis, the open root."""
        cdef HypothesisC hypothesis
        cdef LevelC level
        start_arena(&self.frames, self.root, &self.lattice.c, &self.moves.symbols)
        self.keys.assign(1, 0)
        self._add_keys()
        self.hypotheses.clear()
        self.levels.clear()
        hypothesis.score = hypothesis.best = hypothesis.entropy = hypothesis.steps = hypothesis.survivors = 0.0
        hypothesis.frame, hypothesis.step, hypothesis.node = ROOT, StepC(-1, 0, -1), -1
        self.hypotheses.push_back(hypothesis)
        level.first, level.last, level.best, level.n_words = 0, 1, 0, 0
        level.word, level.before, level.relaxed = 0.0, 0.0, False
        self.levels.push_back(level)

    cdef int32_t advance(self, int32_t level, int32_t first_node, int32_t last_node) except -1 nogil:
        """Absorb a word with these nodes after a level; where all hypotheses die, once more without triples."""
        cdef LevelC result
        cdef size_t k
        self._expand_all(level, first_node, last_node, &result)
        self._filter()
        result.first = <int32_t>self.hypotheses.size()
        for k in range(self.candidates.size()):
            self._build(self.candidates[k], &self.levels[level])
        if self.merges:
            self._merge(result.first)
        result.last = <int32_t>self.hypotheses.size()
        result.best = result.first
        for k in range(<size_t>result.first, <size_t>result.last):
            if self.hypotheses[k].best > self.hypotheses[result.best].best:
                result.best = <int32_t>k
        self.levels.push_back(result)
        return <int32_t>self.levels.size() - 1

    cdef int finish(self, int32_t level) except -1 nogil:
        """Close all that is open after the last word."""
        self._expand_all(level, 0, 0, &self.ending)
        sort(self.candidates.begin(), self.candidates.end(), &better)
        self.final = self.candidates

    cdef int _expand_all(self, int32_t level, int32_t first_node, int32_t last_node, LevelC* result) except -1 nogil:
        """Collect the candidates of all hypotheses of a level, and begin the level that follows it."""
        cdef double beam
        result.relaxed = False
        result.n_words = self.levels[level].n_words + (first_node < last_node)
        if self.is_constrained:
            self.constraints.start_word(self.levels[level].n_words)
        self.scorer.start_word(&self.lattice.c, first_node, last_node, False)
        beam = self._expand_beam(level)
        if self.candidates.empty():
            result.relaxed = True
            self.scorer.start_word(&self.lattice.c, first_node, last_node, True)
            beam = self._expand_beam(level)
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
        cdef double share = exp(total - self.top)
        self.mass += share * site.mass
        self.mass_before += share * site.mass_before
        for k in range(site.first, site.first + site.n):
            candidate.score = total + self.scorer.chains[k].score
            if candidate.score < self.cut:
                return 0  # the list is sorted
            candidate.step.chain_id, candidate.node = self.scorer.chains[k].chain_id, self.scorer.chains[k].node
            if self.allows_chain(frame, candidate.step.chain_id):
                self._note(candidate.score)
                self.candidates.push_back(candidate)

    cdef void _note(self, double score) noexcept nogil:
        """Count a candidate in the histogram of scores that `_raise_cut` reads."""
        cdef double k
        if self.best == -INFINITY:
            self.reference = score + HEAD_ROOM
        self.best = max(self.best, score)
        k = (self.reference - score) / BIN_WIDTH
        self.bins[<int>max(0.0, min(k, N_BINS - 1.0))] += 1

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

    cdef void _filter(self) noexcept nogil:
        """h stays where p(h) > p(best) gamma |H|^3, H the hypotheses kept so far, and a limited number in all."""
        cdef size_t k = 1, n
        sort(self.candidates.begin(), self.candidates.end(), &better)
        n = min(self.candidates.size(), <size_t>self.n_candidates)
        while k < n and self.candidates[k].score > self.best + self.log_gamma + 3 * log(<double>k):
            k += 1
        self.candidates.resize(min(k, n))

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

    cdef uint64_t _key(self, const FrameC* frame) noexcept nogil:
        """Hash all that the sets, or a later head, can read of a frame and of those above it."""
        cdef uint64_t h = mix64(
            <uint64_t>frame.label | <uint64_t>frame.child1 << 16
            | <uint64_t>frame.child2 << 32 | <uint64_t>frame.child3 << 48
        )
        h = mix64(h ^ (<uint64_t><uint32_t>frame.head | <uint64_t><uint32_t>frame.outer_head << 32))
        return mix64(h ^ frame.head_rank ^ self.keys[frame.parent])

    cdef int _add_keys(self) except -1 nogil:
        """Compute the keys of the frames that were appended since the last call."""
        cdef size_t k
        for k in range(self.keys.size(), self.frames.size()):
            self.keys.push_back(self._key(&self.frames[k]) if self.merges else 0)
        return 0

    cdef tuple moves_to(self, int32_t hypothesis):
        """Follow a hypothesis back to the start. Return its moves from left to right: closings and chain ids."""
        cdef vector[int32_t] n_closings, chain_ids
        while self.hypotheses[hypothesis].step.previous >= 0:
            n_closings.push_back(self.hypotheses[hypothesis].step.n_closings)
            chain_ids.push_back(self.hypotheses[hypothesis].step.chain_id)
            hypothesis = self.hypotheses[hypothesis].step.previous
        reverse(n_closings.begin(), n_closings.end())
        reverse(chain_ids.begin(), chain_ids.end())
        return taken(&n_closings), taken(&chain_ids)
