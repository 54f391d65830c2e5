# Contiguous trees as numbers. Nodes are in pre-order, and words are separate nodes below their POS nodes, so phrases,
# POS nodes and words are all handled in the same way. The subtree of node k is k : k + sizes[k].
from libc.stdint cimport int32_t, int64_t
from libcpp.vector cimport vector


# Labels and words by number. A label's symbol is twice its number, a word's is twice its number plus one.
cdef class Symbols:
    cdef readonly dict label_numbers
    cdef readonly dict word_numbers
    cdef readonly list labels
    cdef readonly list words
    cdef vector[int32_t] categories      # label number -> symbol of the label without functions
    cdef object __weakref__
    cdef int32_t label(self, text) except -1
    cdef int32_t word(self, text) except -1


cdef struct NodesC:
    vector[int32_t] symbols
    vector[int32_t] sizes
    vector[int32_t] parents              # relative to the tree's first node, like all node numbers; -1 at a root


cdef class Forest:
    cdef readonly Symbols symbols
    cdef NodesC nodes
    cdef vector[int64_t] firsts          # the first node of each tree, and one after the last node of all
    cdef list trees                      # the given Trees; None for a tree not yet built
    cdef public object places            # the number of each tree in its file, None: all trees of the file are here
    cdef int n_searches                  # searches in progress in other threads: until they end, nothing may be added
    cdef void close_tree(self)


cdef int pack(tree, Symbols symbols, NodesC* nodes) except -1
cdef void find_parents(const int32_t* sizes, int32_t* parents, int32_t n) noexcept nogil
