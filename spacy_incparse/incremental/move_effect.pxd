# The effect of a move on the open constituents, for searching, replaying and counting alike.
#
# A move absorbs the next word. It ends some constituents, opens those of a chain, and puts the word with its tag into
# the lowest one. After the last word all that is open ends instead.
#
# Validity: a constituent may end, or get a child of some label, where the grammar allows that after its last child
#   (Moves.triple_set, Moves.outcome_filter). Only constituents with a child may end, the root only after the last word,
#   at most MAX_CLOSINGS between two words. Constraints on brackets may rule out more (`BracketConstraints`).
# Effect: the functions below.
# Cost: each tree has one derivation (`derivation` of grammar.py), so any move but the gold one loses the gold tree.
#   Time is linear in the number of closings and the length of the chain. One frame is appended for each constituent
#   that is changed or opened and stays open; nothing in the arena is ever changed, so hypotheses share what they have
#   in common.
from libc.stdint cimport int32_t, uint16_t
from libcpp.vector cimport vector

from spacy_incparse.incremental.moves cimport TaggedChainC
from spacy_incparse.incremental.state cimport (
    NONE, FrameC, SentenceC, SymbolsC, closed, opened, outermost, sign, tag_symbol, with_child,
)


# The lowest open constituent. Its parents are in the arena; it need not be there itself until something is below it.
cdef struct LowestC:
    FrameC frame
    int32_t place   # its index in the arena, -1: not there yet


cdef inline LowestC lowest_at(const vector[FrameC]* arena, int32_t place) noexcept nogil:
    """Return the constituent at a place of the arena as the lowest one."""
    cdef LowestC lowest
    lowest.frame, lowest.place = arena[0][place], place
    return lowest


cdef inline int start_arena(
    vector[FrameC]* arena, int root, const SentenceC* sentence, const SymbolsC* symbols
) except -1 nogil:
    """Empty the arena but for the sentinel and the open root, at SENTINEL and ROOT."""
    arena.clear()
    arena.push_back(outermost(NONE, sentence, symbols))
    arena.push_back(outermost(root, sentence, symbols))
    return 0


cdef inline int32_t keep(vector[FrameC]* arena, LowestC* lowest) except -1 nogil:
    """Put the lowest constituent into the arena if it is not there yet. Return its place."""
    if lowest.place < 0:
        arena.push_back(lowest.frame)
        lowest.place = <int32_t>arena.size() - 1
    return lowest.place


cdef inline void end_lowest(
    LowestC* lowest, const FrameC* arena, const SentenceC* sentence, const SymbolsC* symbols
) noexcept nogil:
    """End the lowest constituent: it becomes the last child of its parent, which is the lowest one then."""
    lowest.frame = closed(&arena[lowest.frame.parent], &lowest.frame, sentence, symbols)
    lowest.place = -1


cdef inline int open_below(
    LowestC* lowest, uint16_t label, int32_t position, vector[FrameC]* arena, const SentenceC* sentence,
    const SymbolsC* symbols
) except -1 nogil:
    """Open a constituent before the word at a position, below the lowest one."""
    cdef int32_t parent = keep(arena, lowest)
    lowest.frame = opened(label, 0 if sentence.is_lattice else position, parent, &lowest.frame)
    lowest.frame.start = position  # which constraints read, in a lattice too
    sign(&lowest.frame, sentence, symbols)
    lowest.place = -1
    return 0


cdef inline void attach_word(
    LowestC* lowest, int tag, int32_t position, int32_t word, const SentenceC* sentence, const SymbolsC* symbols
) noexcept nogil:
    """Make a word with its tag the last child. word: its position too, or its node in a lattice."""
    lowest.frame = with_child(&lowest.frame, tag_symbol(symbols, tag), position, word, sentence, symbols)
    lowest.place = -1


cdef inline int attach_chain(
    LowestC* lowest, const TaggedChainC* chain, const uint16_t* labels, int32_t position, int32_t word,
    vector[FrameC]* arena, const SentenceC* sentence, const SymbolsC* symbols
) except -1 nogil:
    """Open a chain's constituents and attach its word. labels: those of all chains, `Moves.chain_labels`."""
    cdef int32_t k
    for k in range(chain.first, chain.first + chain.n):
        open_below(lowest, labels[k], position, arena, sentence, symbols)
    attach_word(lowest, chain.tag, position, word, sentence, symbols)
    return 0
