# A pattern in the form used for matching.
from libc.stdint cimport int32_t, int64_t, uint64_t
from libcpp.vector cimport vector

from spacy_incparse.trees.forest cimport Forest, NodesC, Symbols
from spacy_incparse.patterns.machine cimport MachineC
from spacy_incparse.patterns.relations cimport TreeC
from spacy_incparse.patterns.sets cimport InstructionC, SetsC
from spacy_incparse.patterns.tables cimport Tables


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
