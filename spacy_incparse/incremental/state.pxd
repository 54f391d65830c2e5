# The parser's state: open constituents (frames) that are linked to their parents, and the sentence being read.
from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t

from spacy_incparse.linear.hashing cimport mix64

# Symbols: 0 none or STOP, 1 SHIFT (as an outcome), then nonterminals, then tags.
cdef enum:
    NONE = 0
    STOP = 0
    SHIFT = 1
    FIRST_NONTERMINAL = 2
    NO_RANK = 254  # the head rank of a constituent without children
    PAD = 3        # positions before and after a sentence that fields may read

# The first frames of every arena.
cdef enum:
    SENTINEL = 0   # the frame above the root, its own parent
    ROOT = 1

cdef enum:
    MAX_CLOSINGS = 64  # between two words, or the sites of a deep right-branching tree would make time quadratic


# One sentence; the pointers may be read from -PAD to n + PAD - 1.
cdef struct SentenceC:
    int n
    const uint32_t* words     # a number for the word, or for its class where it is rare
    const uint32_t* classes   # a number for shape and suffix where it is rare, else 0
    # Of a word's cluster, and of the group of clusters around it: a number, 0 for none; NULL where no word has one.
    const uint32_t* clusters
    const uint32_t* groups
    const uint16_t* tags      # tag ids; n_tags before and after the sentence
    # The tags that word i may be absorbed under are alternative_tags[k] for k in first_alternative[i] to
    # first_alternative[i + 1] - 1, the first of them being tags[i]; the sentence's end counts as a word.
    const int32_t* first_alternative
    const uint16_t* alternative_tags
    const uint16_t* tag_ranks   # of each alternative: how it stands to the tagger's choice, see Sentence
    uint32_t ends_in_question
    bint is_lattice             # words are nodes: no field is read by position, and children start at 0


# One open constituent with what has been completed below it. Its open child, if there is one, is not counted yet.
# Words are given by their positions, -1 for none. Frames are never changed once they are in the arena: closing a
# child gives a new frame, so that hypotheses share what they have in common.
cdef struct FrameC:
    uint64_t signature   # hash of all that node, word and chain templates read of this frame
    int32_t parent       # index in the arena; frame 0 is a sentinel and its own parent
    int32_t start        # first word
    int32_t start1       # first word of the last child
    int32_t start2       # first word of the child before
    int32_t head         # lexical head so far
    int32_t head1        # lexical head of the last child
    int32_t outer_head   # nearest head to the left outside of this constituent
    uint32_t rule        # hash of the child labels so far
    uint16_t label
    uint16_t child1      # the last child's label
    uint16_t child2
    uint16_t child3
    uint16_t first_child
    uint8_t n_children   # 4 stands for more
    uint8_t head_rank
    uint8_t after_punctuation  # whether the last child comes right after a punctuation mark


# Facts about symbols that building frames needs.
cdef struct SymbolsC:
    int n_symbols
    int n_nonterminals
    int n_tags
    const uint8_t* head_rule        # [parent * n_symbols + child] = 2 * rank + (1 where the rightmost wins)
    const uint8_t* is_punctuation   # by tag id
    const uint8_t* is_conjunction   # by symbol


cdef inline uint16_t tag_symbol(const SymbolsC* symbols, int tag) noexcept nogil:
    return FIRST_NONTERMINAL + symbols.n_nonterminals + tag


cdef inline void sign(FrameC* frame, const SentenceC* sentence, const SymbolsC* symbols) noexcept nogil:
    """Hash the fields that contexts read; a field that is added to left_context.pxd belongs here too."""
    cdef uint64_t h = mix64(
        <uint64_t>frame.label | <uint64_t>frame.child1 << 16
        | <uint64_t>frame.child2 << 32 | <uint64_t>frame.child3 << 48
    )
    h = mix64(h ^ (<uint64_t><uint32_t>frame.head | <uint64_t><uint32_t>frame.head1 << 32))
    h = mix64(
        h ^ (<uint64_t><uint32_t>frame.outer_head | <uint64_t>frame.first_child << 32
             | <uint64_t>frame.n_children << 48 | <uint64_t>frame.after_punctuation << 56)
    )
    if symbols.is_conjunction[frame.child1]:
        h = mix64(h ^ sentence.tags[frame.start2])
    frame.signature = h


cdef inline FrameC opened(uint16_t label, int start, int32_t parent_index, const FrameC* parent) noexcept nogil:
    """Return a new constituent below `parent`; its caller signs it."""
    cdef FrameC frame
    frame.signature = 0
    frame.parent = parent_index
    frame.start = frame.start1 = frame.start2 = start
    frame.head = frame.head1 = -1
    frame.outer_head = parent.head if parent.head >= 0 else parent.outer_head
    frame.rule = 0
    frame.label = label
    frame.child1 = frame.child2 = frame.child3 = frame.first_child = NONE
    frame.n_children = 0
    frame.head_rank = NO_RANK
    frame.after_punctuation = 0
    return frame


cdef inline FrameC outermost(uint16_t label, const SentenceC* sentence, const SymbolsC* symbols) noexcept nogil:
    """Return the sentinel (its label is NONE) or the root: nothing is to the left of them."""
    cdef FrameC nothing
    nothing.head = nothing.outer_head = -1
    frame = opened(label, 0, SENTINEL, &nothing)
    sign(&frame, sentence, symbols)
    return frame


cdef inline FrameC with_child(
    const FrameC* parent, uint16_t label, int start, int head, const SentenceC* sentence, const SymbolsC* symbols
) noexcept nogil:
    """`parent` with one more completed child; heads are found from left to right by the head rules' ranks."""
    cdef FrameC frame = parent[0]
    cdef uint8_t rule = symbols.head_rule[<int>parent.label * symbols.n_symbols + label]
    frame.child3, frame.child2, frame.child1 = parent.child2, parent.child1, label
    if parent.n_children == 0:
        frame.first_child = label
    if parent.n_children < 4:
        frame.n_children += 1
    if sentence.is_lattice:
        start = 0
    frame.start2, frame.start1 = parent.start1, start
    frame.head1 = head
    if (rule >> 1) < parent.head_rank or ((rule >> 1) == parent.head_rank and rule & 1):
        frame.head, frame.head_rank = head, rule >> 1
    frame.rule = <uint32_t>mix64(<uint64_t>parent.rule << 16 ^ label)
    frame.after_punctuation = start > 0 and symbols.is_punctuation[sentence.tags[start - 1]]
    sign(&frame, sentence, symbols)
    return frame


cdef inline FrameC closed(
    const FrameC* parent, const FrameC* child, const SentenceC* sentence, const SymbolsC* symbols
) noexcept nogil:
    """`parent` after its open child has ended."""
    return with_child(parent, child.label, child.start, child.head, sentence, symbols)
