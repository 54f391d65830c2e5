# What the beams of all incremental parsers have in common: open constituents in an arena, constraints, and the moves
# that led to a hypothesis. Scores are each beam's own: maxima of integers, or sums of probabilities.
from libc.stdint cimport int32_t, int64_t, uint32_t
from libcpp.vector cimport vector

from spacy_incparse.incremental.moves cimport BracketConstraints
from spacy_incparse.incremental.sentence cimport Sentence
from spacy_incparse.incremental.move_effect cimport LowestC, attach_chain, end_lowest, keep, lowest_at
from spacy_incparse.incremental.moves cimport Moves
from spacy_incparse.incremental.scorer cimport Scorer, SiteC
from spacy_incparse.incremental.state cimport FrameC, MAX_CLOSINGS, SENTINEL, SentenceC


# How a hypothesis absorbed the last word.
cdef struct StepC:
    int32_t previous     # the hypothesis that it extends; -1 before the first word
    int32_t n_closings
    int32_t chain_id


cdef inline bint precedes(const StepC* a, const StepC* b) noexcept nogil:
    """Break a tie: the better predecessor first, then fewer closings, then the more frequent chain."""
    if a.previous != b.previous:
        return a.previous < b.previous
    if a.n_closings != b.n_closings:
        return a.n_closings < b.n_closings
    return a.chain_id < b.chain_id


# A search goes through the attachment sites of a hypothesis from the lowest one upward:
#
#   lowest = self.first_site(place)
#   while self.allows_site(&lowest.frame):
#       ... for each chain of the site that self.allows_chain(&lowest.frame, chain_id): add a candidate
#       if not (the grammar and self.allows_end(&lowest.frame)) or not self.has_next_site(...): stop
#       self.next_site(&lowest, &step, sentence)
cdef class IncrementalBeam:
    cdef readonly Moves moves
    cdef int root                           # label of the first constituent
    cdef vector[FrameC] frames              # the arena
    cdef BracketConstraints constraints     # of the sentence
    cdef bint is_constrained

    cdef inline LowestC first_site(self, int32_t place) noexcept nogil:
        """Begin with a hypothesis whose lowest constituent is at a place of the arena."""
        if self.is_constrained:
            self.constraints.start_hypothesis()
        return lowest_at(&self.frames, place)

    cdef inline bint allows_site(self, const FrameC* frame) noexcept nogil:
        """Return whether the constraints can still be met if a constituent and those above it stay open."""
        return not self.is_constrained or self.constraints.keeps_begun(frame, self.frames.data())

    cdef inline bint allows_chains(self, const FrameC* frame) noexcept nogil:
        """Return whether the next word may get into a constituent at all."""
        return not (self.is_constrained and self.constraints.is_doomed(frame, self.frames.data()))

    cdef inline bint allows_chain(self, const FrameC* frame, int32_t chain_id) noexcept nogil:
        """Return whether a chain may be put on a constituent."""
        return not self.is_constrained or self.constraints.allows_chain(frame, &self.moves.tagged_chains[chain_id])

    cdef inline bint allows_end(self, const FrameC* frame) noexcept nogil:
        """Return whether a constituent may end here, and note that it does."""
        return not self.is_constrained or self.constraints.close(frame)

    cdef inline bint has_next_site(self, const FrameC* frame, const StepC* step, bint at_end) noexcept nogil:
        """Return whether there is a site above a constituent that ends, and one more closing is allowed."""
        return frame.parent != SENTINEL and (at_end or step.n_closings < MAX_CLOSINGS)

    cdef inline void next_site(self, LowestC* lowest, StepC* step, const SentenceC* sentence) noexcept nogil:
        """Go up to the parent."""
        end_lowest(lowest, self.frames.data(), sentence, &self.moves.symbols)
        step.n_closings += 1

    cdef inline bint is_complete(self, const FrameC* frame) noexcept nogil:
        """Return whether an analysis whose last open constituent ends is a whole tree that meets all constraints."""
        return frame.parent == SENTINEL and not (self.is_constrained and self.constraints.n_missing)

    cdef inline int32_t build(
        self, int32_t place, const StepC* step, int32_t position, int32_t word, const SentenceC* sentence
    ) except -1 nogil:
        """Append the frames that a step from a place of the arena changes and opens. Return the lowest one's place."""
        cdef LowestC lowest = lowest_at(&self.frames, place)
        cdef int32_t _
        for _ in range(step.n_closings):
            end_lowest(&lowest, self.frames.data(), sentence, &self.moves.symbols)
        attach_chain(
            &lowest, &self.moves.tagged_chains[step.chain_id], self.moves.chain_labels.data(), position, word,
            &self.frames, sentence, &self.moves.symbols,
        )
        return keep(&self.frames, &lowest)


# A hypothesis: how the last word was absorbed, and what is open now. Frames are built for survivors only.
cdef struct HypothesisC:
    int64_t score
    int32_t frame        # the lowest open constituent, an index in the arena
    StepC step


cdef class Beam(IncrementalBeam):
    cdef Scorer scorer
    cdef const SentenceC* sentence
    cdef int beam_size
    cdef double gamma            # in units of the weight table; infinity: plain top N
    cdef vector[HypothesisC] hypotheses
    cdef vector[int32_t] levels  # the hypotheses after k words are hypotheses[levels[k]:levels[k + 1]]
    cdef vector[HypothesisC] candidates
    cdef vector[int64_t] scores      # scratch memory
    cdef int64_t best_candidate
    cdef int64_t bound               # candidates below this score are not among the beam_size best
    cdef size_t next_trim            # the number of candidates at which to raise the bound
    cdef vector[HypothesisC] final   # complete analyses, best first; `step.previous`: what was completed
    cdef readonly int n_relaxed      # words, or the end, that were done again without triples
    cdef void start(self, const SentenceC* sentence) noexcept nogil
    cdef void advance(self) noexcept nogil
    cdef void finish(self) noexcept nogil
    cdef void run(self, const SentenceC* sentence) noexcept nogil
    cdef list _best(self, int k, int64_t limit)
    cdef void moves_to(self, int32_t hypothesis, vector[int32_t]* n_closings, vector[int32_t]* chain_ids) noexcept nogil
    cdef void _expand_all(self, int level, bint relaxed) noexcept nogil
    cdef void _expand(self, int32_t number) noexcept nogil
    cdef void _add_chains(self, HypothesisC candidate, const SiteC* site, const FrameC* frame) noexcept nogil
    cdef void _trim(self) noexcept nogil
    cdef void _filter(self) noexcept nogil
    cdef void _keep_best(self) noexcept nogil
    cdef void _drop_below(self, double threshold) noexcept nogil
    cdef int64_t _last_score(self) noexcept nogil
    cdef void _build(self, HypothesisC hypothesis, int position) noexcept nogil
