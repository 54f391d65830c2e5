"""Each relation is computed in one pass over a tree, whatever its depth.

A step leads from A to B; a repeated step may pass through nodes in between. So A is a source if one step leads to some
M that is a target, or that is allowed in between and is a source itself. A step leads either only down and to the right
in pre-order, or only up and to the left: in a pass from the other end, M is always known before A.
"""

from libc.stdint cimport int32_t, uint8_t
from libc.string cimport memcpy, memset
from libcpp.vector cimport vector


cdef void find_sources(
    const TreeC* tree, int step, int number, GoalC goal, uint8_t* sources, vector[int32_t]* scratch
) noexcept nogil:
    memset(sources, 0, tree.n)
    if step == SELF:
        memcpy(sources, goal.target, tree.n)
    elif step == ANY:
        _any(tree, goal.target, sources)
    elif step == SISTER:
        _sister(tree, goal.target, sources, scratch)
    elif step == CHILD:
        _child(tree, goal, sources)
    elif step == PARENT:
        _parent(tree, goal, sources)
    elif step == NEXT_SISTER:
        _next_sister(tree, goal, sources)
    elif step == PREVIOUS_SISTER:
        _previous_sister(tree, goal, sources)
    elif step == NEXT:
        _next(tree, goal, sources, scratch)
    elif step == PREVIOUS:
        _previous(tree, goal, sources, scratch)
    elif step in (NTH_CHILD, ONLY_CHILD, HEAD):
        _certain_child(tree, step, number, goal, sources)
    else:
        _parent_of_certain_child(tree, step - 1, number, goal, sources)


cdef inline uint8_t _leads_on(GoalC goal, const uint8_t* sources, int32_t node) noexcept nogil:
    """Return whether reaching this node is enough."""
    return goal.target[node] | (goal.chain[node] & sources[node])


cdef inline bint _is_sister(const TreeC* tree, int32_t behind, int32_t node) noexcept nogil:
    """Return whether the node after a node's subtree is its sister."""
    cdef int32_t parent = tree.parents[node]
    return parent >= 0 and behind < parent + tree.sizes[parent]


cdef void _any(const TreeC* tree, const uint8_t* target, uint8_t* sources) noexcept nogil:
    cdef int32_t k
    for k in range(tree.n):
        if target[k]:
            memset(sources, 1, tree.n)
            return


cdef void _sister(
    const TreeC* tree, const uint8_t* target, uint8_t* sources, vector[int32_t]* scratch
) noexcept nogil:
    cdef int32_t k
    scratch.assign(tree.n, 0)     # number of children of each node that are targets
    for k in range(1, tree.n):
        scratch[0][tree.parents[k]] += target[k]
    for k in range(1, tree.n):
        sources[k] = scratch[0][tree.parents[k]] > target[k]


cdef void _child(const TreeC* tree, GoalC goal, uint8_t* sources) noexcept nogil:
    cdef int32_t k
    for k in range(tree.n - 1, 0, -1):
        sources[tree.parents[k]] |= _leads_on(goal, sources, k)


cdef void _parent(const TreeC* tree, GoalC goal, uint8_t* sources) noexcept nogil:
    cdef int32_t k
    for k in range(1, tree.n):
        sources[k] = _leads_on(goal, sources, tree.parents[k])


cdef void _next_sister(const TreeC* tree, GoalC goal, uint8_t* sources) noexcept nogil:
    cdef int32_t k, behind
    for k in range(tree.n - 1, 0, -1):
        behind = k + tree.sizes[k]
        if _is_sister(tree, behind, k):
            sources[k] = _leads_on(goal, sources, behind)


cdef void _previous_sister(const TreeC* tree, GoalC goal, uint8_t* sources) noexcept nogil:
    cdef int32_t k, behind
    for k in range(1, tree.n):
        behind = k + tree.sizes[k]
        if _is_sister(tree, behind, k):
            sources[behind] = _leads_on(goal, sources, k)


cdef void _next(const TreeC* tree, GoalC goal, uint8_t* sources, vector[int32_t]* scratch) noexcept nogil:
    """B can be the node that follows A's subtree in pre-order, its first child, the first child of that, and so on."""
    cdef int32_t k, behind
    scratch.assign(tree.n + 1, 0)     # whether any of these is enough, by the highest
    for k in range(tree.n - 1, -1, -1):
        behind = k + tree.sizes[k]
        sources[k] = scratch[0][behind]
        scratch[0][k] = _leads_on(goal, sources, k) or (tree.sizes[k] > 1 and scratch[0][k + 1])


cdef void _previous(const TreeC* tree, GoalC goal, uint8_t* sources, vector[int32_t]* scratch) noexcept nogil:
    """B can be any node that ends where A begins."""
    cdef int32_t k
    cdef int32_t* starts
    cdef int32_t* ends
    scratch.assign(2 * tree.n + 1, 0)
    starts = scratch.data()           # the highest node that begins at the same place as node k
    ends = starts + tree.n            # whether any node that ends before node k is enough
    for k in range(tree.n):
        starts[k] = starts[k - 1] if tree.parents[k] == k - 1 and k else k
        sources[k] = ends[starts[k]]
        if _leads_on(goal, sources, k):
            ends[k + tree.sizes[k]] = 1


cdef void _certain_child(const TreeC* tree, int step, int number, GoalC goal, uint8_t* sources) noexcept nogil:
    cdef int32_t k
    for k in range(tree.n - 1, 0, -1):
        if _leads_on(goal, sources, k) and _is_that_child(tree, step, number, k):
            sources[tree.parents[k]] = 1


cdef void _parent_of_certain_child(
    const TreeC* tree, int step, int number, GoalC goal, uint8_t* sources
) noexcept nogil:
    cdef int32_t k
    for k in range(1, tree.n):
        sources[k] = _leads_on(goal, sources, tree.parents[k]) and _is_that_child(tree, step, number, k)


cdef inline bint _is_that_child(const TreeC* tree, int step, int number, int32_t node) noexcept nogil:
    cdef int32_t parent = tree.parents[node]
    if step == ONLY_CHILD:
        return tree.sizes[parent] == tree.sizes[node] + 1
    if step == HEAD:
        return tree.heads[parent] == node
    if number > 0:
        return _is_from_left(tree, parent, node, number)
    return _is_from_right(tree, parent, node, -number)


cdef bint _is_from_left(const TreeC* tree, int32_t parent, int32_t node, int number) noexcept nogil:
    cdef int32_t child = parent + 1, _
    for _ in range(number - 1):
        if child >= node:
            return False
        child += tree.sizes[child]
    return child == node


cdef bint _is_from_right(const TreeC* tree, int32_t parent, int32_t node, int number) noexcept nogil:
    cdef int32_t behind = node + tree.sizes[node], end = parent + tree.sizes[parent], _
    for _ in range(number - 1):
        if behind >= end:
            return False
        behind += tree.sizes[behind]
    return behind == end
