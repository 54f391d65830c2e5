# What the beams of all incremental parsers have in common: open constituents in an arena, constraints, and the moves
# that led to a hypothesis. Scores are each beam's own: maxima of integers, or sums of probabilities.
from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from spacy_incparse.incremental.moves cimport BracketConstraints
from spacy_incparse.incremental.move_effect cimport LowestC, attach_chain, end_lowest, keep, lowest_at
from spacy_incparse.incremental.moves cimport Moves
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
