# The sets of nodes at which the parts of a pattern hold, in one tree. A set has one byte per node, 0 or 1.
from libc.stdint cimport int32_t, uint8_t, uint64_t
from libcpp.vector cimport vector

from spacy_incparse.patterns.relations cimport TreeC


cdef enum:                   # the numbers of program.SetOp
    FILL = 0                 # value
    TEST = 1                 # bit of the label's mask
    RELATION = 2             # target set, step, number, chain set
    AND = 3                  # two sets
    OR = 4
    NOT = 5                  # a set


cdef struct InstructionC:
    int32_t operation
    int32_t[6] arguments


cdef struct SetsC:
    vector[uint64_t] masks   # per node: which descriptions fit its label or word
    vector[uint8_t] sets     # the empty set, then those of the program
    vector[uint8_t] single   # a set for a single node
    vector[int32_t] scratch


cdef inline uint8_t* set_of(SetsC* sets, int32_t n_nodes, int32_t number) noexcept nogil:
    # Set -1 means "no set" and is the empty set.
    return sets.sets.data() + <size_t>(number + 1) * n_nodes


cdef uint64_t read_masks(
    const TreeC* tree, const uint64_t* label_masks, const uint64_t* word_masks, vector[uint64_t]* masks
) noexcept nogil
cdef void make_sets(const vector[InstructionC]* instructions, const TreeC* tree, SetsC* sets) noexcept nogil
