# Constraints on the brackets of a tree, as the search asks for them.
from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from spacy_incparse.incremental.moves cimport TaggedChainC, Moves
from spacy_incparse.incremental.state cimport FrameC


# Words `start` to `end - 1` in a phrase with the label, a symbol; NONE: with any label but that of the root.
cdef struct BracketC:
    int32_t start
    int32_t end
    int32_t label


# In the restored tree a constituent X of the search, begun at i, is the bracket (i, j, X) for the j where it ends, and
# for each j where a step X/X is put on it (transforms/left_corner.py). Both happen between the words j - 1 and j. So
# whether a bracket is there is decided by one move, given the constituents that are open:
#
#   before word i    the chain has to open an X,
#   up to word j     it has to stay open,
#   before word j    it has to end, or to get a step.
cdef class BracketConstraints:
    cdef readonly Moves moves
    cdef vector[BracketC] required     # the outer ones first
    cdef vector[BracketC] forbidden
    cdef int32_t n_words, position
    cdef vector[BracketC] starting     # required, at the position
    cdef vector[BracketC] begun        # required, begun before the position and ending after it
    cdef vector[BracketC] ending       # required, at the position
    cdef vector[BracketC] excluded     # forbidden ones that would end at the position
    cdef vector[BracketC] doomed       # before the last word: forbidden ones that would end with it
    cdef vector[char] made             # of those in `ending`, by one hypothesis
    cdef int32_t n_missing
    cdef bint ask_chains               # whether chains have to be asked for at all
    cdef void start_word(self, int32_t position) noexcept nogil
    cdef void start_hypothesis(self) noexcept nogil
    cdef bint keeps_begun(self, const FrameC* frame, const FrameC* frames) noexcept nogil
    cdef bint is_doomed(self, const FrameC* frame, const FrameC* frames) noexcept nogil
    cdef bint allows_chain(self, const FrameC* site, const TaggedChainC* chain) noexcept nogil
    cdef bint close(self, const FrameC* frame) noexcept nogil
    cdef bint _is(self, const BracketC* bracket, int32_t start, int32_t label) noexcept nogil
    cdef bint _has(self, const vector[BracketC]* brackets, int32_t start, int32_t label) noexcept nogil
    cdef bint _opens_all(self, const TaggedChainC* chain) noexcept nogil
    cdef bint _makes_missing(self, const FrameC* site) noexcept nogil
