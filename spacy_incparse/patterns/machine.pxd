# The search for the nodes that have names, and for nodes that fit together where a pattern refers to names.
from libc.stdint cimport int32_t, uint8_t
from libcpp.vector cimport vector

from spacy_incparse.patterns.relations cimport TreeC
from spacy_incparse.patterns.sets cimport InstructionC, SetsC


cdef enum:                    # the numbers of program.Op
    CHOOSE = 0                # register, register it is related to, step back, number, chain set, set it is chosen from
    NAME = 1                  # name, register
    SAME = 2                  # name, register, negated
    LIKE = 3                  # name, register, negated
    CAPTURE = 4               # variable, register, number of the capture
    CHECK = 5                 # register, set
    EITHER = 6                # where the other alternative begins
    GOTO = 7
    MAYBE = 8                 # where to go on without it, slot
    FOUND = 9                 # slot
    UNLESS = 10               # where to go on if it fails, slot
    FAIL = 11                 # slot
    ACCEPT = 12

cdef enum:
    NOTHING = -1              # a name without a node, a variable without a value


# Something else that can be tried: another instruction, or the next node for a register.
cdef struct ChoiceC:
    int32_t target            # the instruction to go on with
    int32_t register          # NOTHING where it is no choice of a node
    int32_t node              # the last one that was tried
    size_t n_changes          # length of `changes` when the choice came up
    bint is_dead


# An entry of `bound` and what it was before.
cdef struct ChangeC:
    int32_t place
    int32_t before


# What a search works on; the vectors are kept from tree to tree.
cdef struct MachineC:
    const vector[InstructionC]* code
    int32_t n_registers
    int32_t n_slots
    int32_t n_bound
    int32_t n_names
    const int32_t* categories                    # symbol of a label without functions, by label number
    bint compares_categories                     # whether `~name` looks at these
    const vector[vector[int32_t]]* label_captures   # [capture][label number] -> captured string, or NOTHING
    const vector[vector[int32_t]]* word_captures
    vector[int32_t] registers
    vector[int32_t] bound                        # the nodes that have names, then the values of variables
    vector[ChangeC] changes                      # of `bound`, to be taken back
    vector[ChoiceC] choices
    vector[size_t] slots                         # number of choices at each MAYBE and UNLESS
    vector[uint8_t] candidates                   # a set for each register


cdef int search(MachineC* machine, SetsC* sets, const TreeC* tree, int32_t root, bint again) except -1 nogil
