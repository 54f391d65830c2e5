# The candidate trees of one sentence as arrays of numbers, as the families of features read them.
from libc.stdint cimport int32_t, uint8_t, uint64_t
from libcpp.vector cimport vector

from spacy_incparse.linear.hash_map cimport HashMapC

cdef enum:
    PUNCTUATION = 1    # the label is among the head table's punctuation
    CONJUNCTION = 2    # links conjuncts
    PREPOSITIONAL = 4  # the label of a prepositional phrase
    CLOSED = 8         # the tag of a closed class


# A view of one tree. Nodes are numbers in pre-order; the subtree of node k is k : k + sizes[k], and a node of size 1 is
# a POS node. The children of k are k + 1, then each time the child plus its size. Texts are 64-bit hashes.
cdef struct TreeC:
    int32_t n_nodes
    int32_t n_words
    int32_t last_content         # the last word that is not punctuation; -1: there is none
    const int32_t* sizes
    const int32_t* starts
    const int32_t* ends
    const int32_t* parents       # -1 at the root
    const int32_t* heads         # the head child; a POS node itself
    const int32_t* head_numbers  # how many children stand before the head child
    const int32_t* head_words    # the position of the lexical head
    const uint8_t* marks
    const uint64_t* labels       # of the second pass: with the heads that are words of closed classes
    const uint64_t* rules        # the hash of (label, labels of the children), 0 at POS nodes
    const int32_t* leaves        # word -> its POS node
    const int32_t* tops          # word -> the highest node whose lexical head it is
    const uint64_t* tags         # word -> the label of its POS node
    const uint64_t* words        # word -> its text


# The same as vectors, all trees in a row. Nodes are counted within each tree.
cdef struct NodesC:
    vector[int32_t] numbers      # node -> number of its label
    vector[int32_t] sizes
    vector[int32_t] starts
    vector[int32_t] ends
    vector[int32_t] parents
    vector[int32_t] heads
    vector[int32_t] head_numbers
    vector[int32_t] head_words
    vector[uint8_t] marks
    vector[uint64_t] labels
    vector[uint64_t] rules
    vector[uint64_t] lexicalized_labels
    vector[uint64_t] lexicalized_rules


cdef class PackedTrees:
    cdef Py_ssize_t n_trees
    cdef int32_t n_words
    cdef object heads
    cdef frozenset closed_tags
    cdef dict label_numbers             # label as given -> number of its category
    cdef list categories
    cdef vector[uint64_t] label_values  # by number
    cdef vector[uint8_t] label_marks
    cdef HashMapC ranks                 # pair of numbers -> rank and direction of a head
    cdef vector[int32_t] firsts         # the first node of each tree, and one after the last of all
    cdef NodesC nodes
    cdef vector[int32_t] last_contents  # by tree
    cdef vector[int32_t] leaves         # by tree and word, as tops and tags
    cdef vector[int32_t] tops
    cdef vector[uint64_t] tags
    cdef vector[uint64_t] words

    cdef int read(self, list trees) except -1
    cdef TreeC tree(self, Py_ssize_t k, bint lexicalized) noexcept
    cdef int _start(self, tuple words, Py_ssize_t n_trees) except -1
    cdef int _read_tree(self, arrays) except -1
    cdef int _complete(self) except -1
    cdef int32_t _number(self, label) except -1
    cdef int _find_heads(self, Py_ssize_t k) except -1
    cdef void _find_words(self, Py_ssize_t k) noexcept
    cdef void _find_labels(self, Py_ssize_t k) noexcept
    cdef int32_t _rank(self, int32_t parent, int32_t child) except -1
