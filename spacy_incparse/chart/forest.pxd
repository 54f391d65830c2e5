# A packed forest: all trees of one sentence, with common parts stored once.
from libc.stdint cimport int32_t
from libcpp.vector cimport vector


cdef enum:
    NO_NODE = -1
    GOAL_STATE = -1  # of the last node, which stands for the whole sentence
    IDENTITY = -1    # these are grammar.py's numbers of what is no rule
    GLUE = -2
    GLUE_ROOT = -3
    WRAP = -4


# Something with one state over the words from start to end: what binary and lexical rules make, or that with at most
# one unary rule on top. Children have smaller numbers than their parents.
cdef struct NodeC:
    int32_t state
    int32_t start
    int32_t end


# One way to make a node: a rule and the nodes it is applied to. With one child, the child is `left`.
cdef struct EdgeC:
    int32_t rule
    int32_t left
    int32_t right


cdef class Forest:
    cdef readonly int32_t n_words
    cdef vector[NodeC] nodes           # the last one is the goal; empty if there is no tree
    cdef vector[EdgeC] edges           # by node, then by rule and split
    cdef vector[int32_t] first_edges   # the edges of node v are edges[first_edges[v]:first_edges[v + 1]]
    cdef int32_t _edge(self, int32_t node, int32_t rule, int32_t split)
