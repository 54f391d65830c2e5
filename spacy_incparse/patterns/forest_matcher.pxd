from libc.stdint cimport int32_t, int64_t, uint64_t, uint8_t
from libcpp.vector cimport vector

from spacy_incparse.patterns.sets cimport InstructionC, SetsC, Tables, TreeC
from spacy_incparse.trees.forest cimport Forest, NodesC, Symbols

# The search for nodes that have names, and for nodes that fit together if a pattern refers to names.
cdef enum:                    # the numbers of program.Op
    CHOOSE = 0                # register, register it is related to, inverse step, number, chain set, set to choose from
    NAME = 1                  # name, register
    SAME = 2                  # name, register, negated
    LIKE = 3                  # name, register, negated
    CAPTURE = 4               # variable, register, number of the capture
    CHECK = 5                 # register, set
    EITHER = 6                # start of the other alternative
    GOTO = 7
    MAYBE = 8                 # where to continue without it, slot
    FOUND = 9                 # slot
    UNLESS = 10               # where to continue if it fails, slot
    FAIL = 11                 # slot
    ACCEPT = 12

cdef enum:
    NOTHING = -1              # a name without a node, a variable without a value


# An alternative to try: another instruction, or the next node for a register.
cdef struct ChoiceC:
    int32_t target            # the instruction to continue with
    int32_t register          # NOTHING unless a node is chosen
    int32_t node              # the last node tried
    size_t n_changes          # length of `changes` at the time of the choice
    bint is_dead


# An entry of `bound` and its previous value.
cdef struct ChangeC:
    int32_t place
    int32_t before


# The workspace of a search; the vectors are reused from tree to tree.
cdef struct MachineC:
    const vector[InstructionC]* code
    int32_t n_registers
    int32_t n_slots
    int32_t n_bound
    int32_t n_names
    const int32_t* categories                    # symbol of a label without functions, by label number
    bint compares_categories                     # whether `~name` compares these
    const vector[vector[int32_t]]* label_captures   # [capture][label number] -> captured string, or NOTHING
    const vector[vector[int32_t]]* word_captures
    vector[int32_t] registers
    vector[int32_t] bound                        # the nodes that have names, then the values of variables
    vector[ChangeC] changes                      # changes of `bound`, to be undone
    vector[ChoiceC] choices
    vector[size_t] slots                         # number of choices at each MAYBE and UNLESS
    vector[uint8_t] candidates                   # a set for each register


cdef int search(MachineC* machine, SetsC* sets, const TreeC* tree, int32_t root, bint again) except -1 nogil

# A pattern in the form used for matching.
# Matches in a tree: the nodes, and for each the nodes that have names, -1 for names without a node.
cdef struct MatchesC:
    vector[int32_t] nodes
    vector[int32_t] bound


# The workspace for matching, reused from tree to tree.
cdef struct WorkC:
    const uint64_t* label_masks
    const uint64_t* word_masks
    SetsC sets
    MachineC machine
    MatchesC matches


cdef class Matcher:
    cdef object tests, captures, heads
    cdef vector[InstructionC] sets, code
    cdef int32_t result, n_names
    cdef uint64_t required     # bits that a tree's masks must have for any match
    cdef bint has_references, raw_labels
    cdef int32_t n_registers, n_slots, n_variables
    cdef Tables own            # for trees outside forests
    cdef Tables last           # for the symbols of the last forest
    cdef Tables tables_for(self, Symbols symbols)
    cdef void prepare(self, Tables tables, WorkC* work)
    cdef int count_tree(self, const TreeC* tree, WorkC* work, int64_t* n_matches) except -1 nogil
    cdef int match_tree(self, const TreeC* tree, WorkC* work, bint every) except -1 nogil
    cdef int _take_in(
        self, given, NodesC* nodes, vector[int32_t]* heads, TreeC* tree, WorkC* work
    ) except -1
    cdef int _find_heads(
        self, Forest forest, Tables tables, size_t first, size_t behind, vector[int32_t]* heads
    ) except -1
    cdef int _report(self, size_t number, const TreeC* tree, WorkC* work, list found) except -1
