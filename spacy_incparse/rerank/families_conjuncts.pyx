"""Features of co-ordinations: Charniak & Johnson (2005), section 4, CoPar and CoLenPar.

A phrase is a co-ordination if one of its children, not the first, is a conjunction. Its conjuncts are the children that
stand next to one another but for conjunctions or punctuation between them; adjacent ones are compared.
"""

from libc.stdint cimport int32_t, uint64_t
from libcpp.vector cimport vector

from spacy_incparse.rerank.family_functions cimport plus2
from spacy_incparse.rerank.feature_keys cimport number
from spacy_incparse.rerank.packed_trees cimport CONJUNCTION, PUNCTUATION, TreeC

cdef enum:
    MAX_DEPTH = 4       # levels of two conjuncts that are compared
    MAX_DIFFERENCE = 5  # of their lengths, in words


cdef int coordination_parallelism(
    const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys
) except -1 nogil:
    """(levels, whether two conjuncts are the same down to this level), the labels of conjuncts being the first level"""
    cdef int32_t first = -1, second = node, depth
    if not _is_coordination(tree, node):
        return 0
    while _next_pair(tree, node, &first, &second):
        for depth in range(1, MAX_DEPTH + 1):
            keys.push_back(plus2(family, number(depth), number(_are_parallel(tree, first, second, depth))))
    return 0


cdef int coordination_length(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(by how many words the second of two conjuncts is longer, from -5 to 5; whether they are the last two)"""
    cdef int32_t first = -1, second = node, difference, last
    if not _is_coordination(tree, node):
        return 0
    last = _last_conjunct(tree, node)
    while _next_pair(tree, node, &first, &second):
        difference = (tree.ends[second] - tree.starts[second]) - (tree.ends[first] - tree.starts[first])
        difference = max(-<int32_t>MAX_DIFFERENCE, min(<int32_t>MAX_DIFFERENCE, difference))
        keys.push_back(plus2(family, number(difference), number(second == last)))
    return 0


cdef bint _is_coordination(const TreeC* tree, int32_t node) noexcept nogil:
    """Return whether a child that is not the first is a conjunction."""
    cdef int32_t child = node + 1
    child += tree.sizes[child]
    while child < node + tree.sizes[node]:
        if tree.marks[child] & CONJUNCTION:
            return True
        child += tree.sizes[child]
    return False


cdef bint _next_pair(const TreeC* tree, int32_t node, int32_t* first, int32_t* second) noexcept nogil:
    """Find the next two conjuncts; `second` is the last child of the pair before, or the node itself at the start."""
    cdef int32_t behind = node + tree.sizes[node], child
    cdef bint is_separated = False
    first[0] = second[0] if second[0] > node else -1
    child = node + 1 if first[0] < 0 else first[0] + tree.sizes[first[0]]
    while child < behind:
        if tree.marks[child] & (CONJUNCTION | PUNCTUATION):
            is_separated = True
        elif first[0] >= 0 and is_separated:
            second[0] = child
            return True
        else:
            first[0], is_separated = child, False
        child += tree.sizes[child]
    return False


cdef int32_t _last_conjunct(const TreeC* tree, int32_t node) noexcept nogil:
    """Return the last child that is neither punctuation nor a conjunction; -1 if there is none."""
    cdef int32_t child = node + 1, found = -1
    while child < node + tree.sizes[node]:
        if not tree.marks[child] & (CONJUNCTION | PUNCTUATION):
            found = child
        child += tree.sizes[child]
    return found


cdef bint _are_parallel(const TreeC* tree, int32_t a, int32_t b, int32_t n_levels) noexcept nogil:
    """Return whether two subtrees have the same labels and shape on their highest levels; words are not compared.

    The two are walked at the same time. `depth` is that of both places; it is kept by going up where a subtree ends.
    """
    cdef int32_t depth = 1, above_a, above_b
    while True:
        if tree.labels[a] != tree.labels[b]:
            return False
        if depth < n_levels and tree.sizes[a] > 1 and tree.sizes[b] > 1:
            a, b, depth = a + 1, b + 1, depth + 1
            continue
        if depth < n_levels and (tree.sizes[a] > 1) != (tree.sizes[b] > 1):
            return False
        above_a, above_b = a, b
        a, b = a + tree.sizes[a], b + tree.sizes[b]
        # Go up from subtrees that end here; both have to end at the same time.
        while depth > 1:
            above_a, above_b = tree.parents[above_a], tree.parents[above_b]
            if (a < above_a + tree.sizes[above_a]) != (b < above_b + tree.sizes[above_b]):
                return False
            if a < above_a + tree.sizes[above_a]:
                break
            depth -= 1
        if depth == 1:
            return True
