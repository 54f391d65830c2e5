"""The tree edit distance of Zhang & Shasha (1989)."""

from libc.stdint cimport int32_t
from libcpp.vector cimport vector

cdef struct Side:
    vector[int32_t] labels    # of the nodes in post-order
    vector[int32_t] leftmost  # the first leaf below each node
    vector[int32_t] keyroots  # the highest node above each first leaf


def edit_distance(first, second):
    """Return how many nodes must be inserted, removed or relabelled to turn one tree into the other.

    Each tree is the labels of its nodes in post-order, as numbers, and the index of the first leaf below each.
    """
    cdef Side one, other
    cdef int32_t i, j
    one.labels, one.leftmost = first
    other.labels, other.leftmost = second
    one.keyroots = sorted({leaf: k for k, leaf in enumerate(first[1])}.values())
    other.keyroots = sorted({leaf: k for k, leaf in enumerate(second[1])}.values())
    cdef size_t n = one.labels.size(), m = other.labels.size()
    # Distances of all pairs of subtrees, and of the forests before two nodes.
    cdef vector[int32_t] trees = vector[int32_t](n * m), forests = vector[int32_t]((n + 1) * (m + 1))
    with nogil:
        for i in one.keyroots:
            for j in other.keyroots:
                compare(&one, &other, i, j, trees.data(), forests.data())
    return trees[n * m - 1]


cdef void compare(Side* one, Side* other, int32_t i, int32_t j, int32_t* trees, int32_t* forests) noexcept nogil:
    """Fill in the distances of the subtrees that have their first leaf in common with the subtrees i and j."""
    cdef int32_t a = one.leftmost[i], b = other.leftmost[j], width = j - b + 2, x, y, p, q, cost
    cdef size_t m = other.labels.size()
    for y in range(width):
        forests[y] = y
    for x in range(1, i - a + 2):
        forests[x * width] = x
        for y in range(1, width):
            p, q = a + x - 1, b + y - 1
            cost = min(forests[(x - 1) * width + y], forests[x * width + y - 1]) + 1
            if one.leftmost[p] == a and other.leftmost[q] == b:
                cost = min(cost, forests[(x - 1) * width + y - 1] + (one.labels[p] != other.labels[q]))
                trees[p * m + q] = cost
            else:
                cost = min(cost, forests[(one.leftmost[p] - a) * width + other.leftmost[q] - b] + trees[p * m + q])
            forests[x * width + y] = cost
