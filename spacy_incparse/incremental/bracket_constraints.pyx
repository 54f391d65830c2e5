"""Constraints on the brackets of a tree, move by move (tests/incremental/test_constraints.py: what they come to)."""

from libc.stdint cimport int32_t

from spacy_incparse.incremental.moves cimport TaggedChainC, Moves
from spacy_incparse.incremental.state cimport NONE, FrameC


cdef class BracketConstraints:
    """The constraints on one sentence of n_words words.

    required, forbidden: brackets as (start, end, symbol of the label), with NONE for any label. The root is never
    asked for here: it is in every tree.
    """

    def __init__(self, Moves moves, int32_t n_words, required, forbidden):
        self.moves, self.n_words = moves, n_words
        for start, end, label in sorted(required, key=lambda bracket: (bracket[0], -bracket[1])):
            self.required.push_back(BracketC(start, end, label))
        for start, end, label in forbidden:
            self.forbidden.push_back(BracketC(start, end, label))

    cdef void start_word(self, int32_t position) noexcept nogil:
        """Go to the position before a word; n_words: to the end."""
        cdef size_t k
        cdef BracketC bracket
        self.position = position
        self.starting.clear()
        self.begun.clear()
        self.ending.clear()
        self.excluded.clear()
        self.doomed.clear()
        for k in range(self.required.size()):
            bracket = self.required[k]
            if bracket.end == position:
                self.ending.push_back(bracket)
            elif bracket.start == position:
                self.starting.push_back(bracket)
            elif bracket.start < position < bracket.end:
                self.begun.push_back(bracket)
        for k in range(self.forbidden.size()):
            bracket = self.forbidden[k]
            if bracket.end == position:
                self.excluded.push_back(bracket)
            if bracket.end == self.n_words == position + 1:
                self.doomed.push_back(bracket)
        self.ask_chains = not (
            self.starting.empty() and self.ending.empty() and self.excluded.empty() and self.doomed.empty()
        )

    cdef void start_hypothesis(self) noexcept nogil:
        """Forget what the hypothesis before has made."""
        self.made.assign(self.ending.size(), False)
        self.n_missing = <int32_t>self.ending.size()

    cdef bint keeps_begun(self, const FrameC* frame, const FrameC* frames) noexcept nogil:
        """Return whether the constituents from a frame upward may become all brackets that have begun.

        From the inside out: a bracket around another one is a constituent above that one's, or the same one, where a
        step on it can make the inner bracket; those over the same words may stand in any order.
        """
        cdef const FrameC* here
        cdef int32_t height, lowest = 0, highest = 0
        cdef bint has_inner = False
        cdef int k, last = <int>self.begun.size() - 1
        for k in range(last, -1, -1):
            if k < last and (
                self.begun[k].start != self.begun[k + 1].start or self.begun[k].end != self.begun[k + 1].end
            ):
                lowest, has_inner = highest, True
            here, height = frame, 0
            while (
                height < lowest
                or (height == lowest and has_inner and self.moves.slash_of[here.label] == NONE)
                or not self._is(&self.begun[k], here.start, here.label)
            ):
                here, height = &frames[here.parent], height + 1
                if here.parent == 0 or here.start < self.begun[k].start:
                    return False
            if here.parent == 0:
                return False
            highest = max(highest, height)
        return True

    cdef bint is_doomed(self, const FrameC* frame, const FrameC* frames) noexcept nogil:
        """Whether, with the last word below this frame, a forbidden bracket ends at the end."""
        if self.doomed.empty():
            return False
        while frame.parent != 0:
            if self._has(&self.doomed, frame.start, frame.label):
                return True
            frame = &frames[frame.parent]
        return False

    cdef bint allows_chain(self, const FrameC* site, const TaggedChainC* chain) noexcept nogil:
        """Return whether a chain may be put on a site."""
        cdef int32_t k
        cdef bint is_step = (
            chain.n > 0
            and site.n_children > 0
            and self.moves.slash_of[site.label] == self.moves.chain_labels[chain.first]
        )
        if not self.ask_chains:
            return True
        if is_step and self._has(&self.excluded, site.start, site.label):
            return False
        if self.n_missing and not (is_step and self._makes_missing(site)):
            return False
        for k in range(chain.first, chain.first + chain.n):
            if self._has(&self.doomed, self.position, self.moves.chain_labels[k]):
                return False
        return self._opens_all(chain)

    cdef bint close(self, const FrameC* frame) noexcept nogil:
        """Note that a constituent ends here. Return whether it may."""
        cdef size_t k
        if frame.parent == 0:
            return True
        if self._has(&self.excluded, frame.start, frame.label):
            return False
        for k in range(self.ending.size()):
            if not self.made[k] and self._is(&self.ending[k], frame.start, frame.label):
                self.made[k] = True
                self.n_missing -= 1
        return True

    cdef bint _makes_missing(self, const FrameC* site) noexcept nogil:
        """Return whether the bracket that a step on a site completes is all that is missing."""
        cdef size_t k
        for k in range(self.ending.size()):
            if not self.made[k] and not self._is(&self.ending[k], site.start, site.label):
                return False
        return True

    cdef bint _opens_all(self, const TaggedChainC* chain) noexcept nogil:
        """Whether a chain has a constituent for each bracket that starts here: `keeps_begun` from the outside in."""
        cdef size_t k
        cdef int32_t here, label, first = 0, furthest = 0
        cdef bint has_outer = False
        for k in range(self.starting.size()):
            if k > 0 and self.starting[k].end != self.starting[k - 1].end:
                first, has_outer = furthest, True
            here = first
            while here < chain.n:
                label = self.moves.chain_labels[chain.first + here]
                if self._is(&self.starting[k], self.position, label) and not (
                    here == first and has_outer and self.moves.slash_of[label] == NONE
                ):
                    break
                here += 1
            if here == chain.n:
                return False
            furthest = max(furthest, here)
        return True

    cdef bint _has(self, const vector[BracketC]* brackets, int32_t start, int32_t label) noexcept nogil:
        cdef size_t k
        for k in range(brackets.size()):
            if self._is(&brackets[0][k], start, label):
                return True
        return False

    cdef bint _is(self, const BracketC* bracket, int32_t start, int32_t label) noexcept nogil:
        """Return whether a constituent may become a bracket, by where it starts and its label."""
        if bracket.start != start:
            return False
        return bracket.label == label or (bracket.label == NONE and not self.moves.is_slash[label])
