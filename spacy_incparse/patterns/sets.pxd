from libc.stdint cimport int32_t, uint64_t, uint8_t
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from spacy_incparse.trees.forest cimport NodesC, Symbols

# Relations between the nodes of a tree, on sets: from the set of all B to the set of all A related to one of them.
cdef enum:               # the numbers of syntax.Step
    SELF = 0
    ANY = 1
    SISTER = 2
    CHILD = 3
    PARENT = 4
    NTH_CHILD = 5
    NTH_CHILD_OF = 6
    ONLY_CHILD = 7
    ONLY_CHILD_OF = 8
    HEAD = 9
    HEAD_OF = 10
    NEXT_SISTER = 11
    PREVIOUS_SISTER = 12
    NEXT = 13
    PREVIOUS = 14


# A tree to be matched: see forest.pxd. heads[k] is the head child of node k; NULL if no relation needs it.
cdef struct TreeC:
    int32_t n
    const int32_t* symbols
    const int32_t* sizes
    const int32_t* parents
    const int32_t* heads


# The nodes B and, for repeated steps, the nodes allowed in between. A set has one byte per node, 0 or 1.
cdef struct GoalC:
    const uint8_t* target
    const uint8_t* chain   # all 0 if the step is not repeated


# sources := { A : some B in `target` is reached from A by the step, or by several steps through `chain` only }
cdef void find_sources(
    const TreeC* tree, int step, int number, GoalC goal, uint8_t* sources, vector[int32_t]* scratch
) noexcept nogil

# The sets of nodes at which the parts of a pattern hold, in one tree. A set has one byte per node, 0 or 1.
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

# The properties of labels and words that a pattern needs, for the symbols of one or more forests.
cdef class Tables:
    cdef readonly Symbols symbols
    cdef object tests, captures, heads, other_words
    cdef dict known_words
    cdef dict captured                              # captured string -> number
    cdef int n_searches                             # searches in progress: until they end, nothing may grow
    cdef vector[int32_t] categories                 # the same as in the symbols
    cdef vector[uint64_t] label_masks, word_masks   # which descriptions fit a label or a word, by its number
    cdef vector[vector[int32_t]] label_captures, word_captures   # [capture][number] -> captured string, or -1
    cdef unordered_map[uint64_t, int32_t] ranks     # (parent, child) -> 2 * rank, + 1 if the rightmost wins
    cdef bint is_complete(self)
    cdef int update(self) except -1
    cdef int32_t _rank(self, int32_t parent, int32_t child) except -1
    cdef int _add_known_words(self, size_t n_known, size_t n_words) except -1
    cdef int find_heads(self, const NodesC* nodes, size_t first, size_t behind, int32_t* heads) except -1
