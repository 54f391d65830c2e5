"""Runs the instructions of program.py that compute sets of nodes."""

from libc.stdint cimport int32_t, uint8_t, uint64_t
from libc.string cimport memset
from libcpp.vector cimport vector

from spacy_incparse.patterns.relations cimport GoalC, TreeC, find_sources


cdef uint64_t read_masks(
    const TreeC* tree, const uint64_t* label_masks, const uint64_t* word_masks, vector[uint64_t]* masks
) noexcept nogil:
    """Look up the mask of each node; return the union of all masks."""
    cdef int32_t k, symbol
    cdef uint64_t mask, together = 0
    masks.resize(tree.n)
    for k in range(tree.n):
        symbol = tree.symbols[k]
        mask = word_masks[symbol >> 1] if symbol & 1 else label_masks[symbol >> 1]
        masks[0][k] = mask
        together |= mask
    return together


cdef void make_sets(const vector[InstructionC]* instructions, const TreeC* tree, SetsC* sets) noexcept nogil:
    """Compute all sets in order; `sets.masks` is already filled."""
    cdef size_t k
    sets.sets.resize((instructions.size() + 1) * tree.n)
    memset(sets.sets.data(), 0, tree.n)
    for k in range(instructions.size()):
        _make_set(&instructions[0][k], <int32_t>k, tree, sets)


cdef void _make_set(const InstructionC* instruction, int32_t number, const TreeC* tree, SetsC* sets) noexcept nogil:
    cdef const int32_t* given = &instruction.arguments[0]
    cdef uint8_t* made = set_of(sets, tree.n, number)
    cdef const uint8_t* first
    cdef GoalC goal
    if instruction.operation == FILL:
        memset(made, given[0], tree.n)
    elif instruction.operation == TEST:
        _test(sets.masks.data(), given[0], tree.n, made)
    elif instruction.operation == RELATION:
        goal.target = set_of(sets, tree.n, given[0])
        goal.chain = set_of(sets, tree.n, given[3])
        find_sources(tree, given[1], given[2], goal, made, &sets.scratch)
    elif instruction.operation == NOT:
        first = set_of(sets, tree.n, given[0])
        _not(first, tree.n, made)
    else:
        first = set_of(sets, tree.n, given[0])
        _join(instruction.operation == AND, first, set_of(sets, tree.n, given[1]), tree.n, made)


cdef void _test(const uint64_t* masks, int32_t bit, int32_t n, uint8_t* made) noexcept nogil:
    cdef int32_t k
    for k in range(n):
        made[k] = (masks[k] >> bit) & 1


cdef void _not(const uint8_t* given, int32_t n, uint8_t* made) noexcept nogil:
    cdef int32_t k
    for k in range(n):
        made[k] = given[k] ^ 1


cdef void _join(bint both, const uint8_t* first, const uint8_t* second, int32_t n, uint8_t* made) noexcept nogil:
    cdef int32_t k
    if both:
        for k in range(n):
            made[k] = first[k] & second[k]
    else:
        for k in range(n):
            made[k] = first[k] | second[k]
