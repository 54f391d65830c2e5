"""The moves of a tree's left-corner form, without that form.

The readable twin is `derivation(transform(tree))` of incremental/derivation.py and transforms/left_corner.py; the same
steps in plain Python are tests/reference/left_corner_moves.py. A reranker asks for the moves of all trees of a list.
"""

from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from spacy_incparse.transforms.left_corner import slash_base


cdef class LeftCornerMoves:
    """Finds the moves of trees, as numbers of a grammar's nonterminals.

    nonterminals: the labels of the left-corner form, numbered from `first`.
    """

    cdef dict phrases   # label -> number
    cdef dict steps     # NP -> number of NP/NP

    def __init__(self, nonterminals, int first):
        self.phrases, self.steps = {}, {}
        for number, label in enumerate(nonterminals, start=first):
            base = slash_base(label)
            if base is None:
                self.phrases[label] = number
            else:
                self.steps[base] = number

    def of(self, arrays):
        """Return the tags of the words; for each word the number of closings; and the symbols of its chain, from the
        highest to the lowest.

        arrays: `TreeArrays` of a whole tree. Raises KeyError for a label without a number.
        """
        cdef tuple labels = arrays.labels, starts = arrays.starts, ends = arrays.ends, sizes = arrays.sizes
        cdef list tags = [], n_closings = [], chains = [], chain = []
        cdef vector[int32_t] open_ends, pending  # pending: phrases that are still to be opened as steps
        cdef int32_t start, n_closed = 0, n = <int32_t>len(sizes), node = _innermost(labels, sizes, 0, &pending) + 1
        open_ends.push_back(<int32_t>ends[0])
        while node < n:
            start = starts[node]
            while open_ends.back() <= start:
                open_ends.pop_back()
                n_closed += 1
            if not pending.empty() and <int32_t>ends[pending.back() + 1] == start:
                chain.append(self.steps[labels[pending.back()]])
                open_ends.push_back(<int32_t>ends[pending.back()])
                pending.pop_back()
            if <int32_t>sizes[node] == 1:
                tags.append(labels[node])
                n_closings.append(n_closed)
                chains.append(chain)
                chain, n_closed = [], 0
            else:
                chain.append(self.phrases[labels[node]])
                open_ends.push_back(<int32_t>ends[node])
                node = _innermost(labels, sizes, node, &pending)
            node += 1
        return tuple(tags), n_closings, chains


cdef int32_t _innermost(tuple labels, tuple sizes, int32_t node, vector[int32_t]* pending) except -1:
    """Return the innermost repetition of a phrase's label at its left corner; those around it become pending."""
    cdef str label = labels[node]
    cdef int32_t n = <int32_t>len(sizes)
    while node + 1 < n and label == <str>labels[node + 1] and 1 < <int32_t>sizes[node + 1] < <int32_t>sizes[node] - 1:
        pending.push_back(node)
        node += 1
    return node
