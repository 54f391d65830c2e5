# What all families of features share: keys, the trees that they read, and small readings of these.
#
# The 64-bit keys of features are hashes of tuples, the same on every platform. A feature is a tuple: the name of its
# family, then fields. A field is a text, a whole number, None or a tuple of fields. The hash of a tuple is folded from
# the values of its fields, from left to right; the value of a text is its hash, that of a tuple likewise, that of a
# number n is n + 1, and that of None is 0. Compiled code folds what it has read from a tree and never builds the
# tuples.
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libcpp.vector cimport vector

from spacy_incparse.linear.hashing cimport hash_bytes, mix64

cdef enum:
    NONE = 0  # the value of None: no node is there, or STOP beyond the first and last child


cdef inline uint64_t extended(uint64_t key, uint64_t value) noexcept nogil:
    """Return the hash of a tuple with one more field."""
    return mix64((key ^ value) + <uint64_t>0x9E3779B97F4A7C15)


cdef inline uint64_t number(int64_t n) noexcept nogil:
    """Return the value of a whole number."""
    return <uint64_t>n + 1


cdef inline uint64_t text_value(str text):
    """Return the value of a text."""
    data = text.encode("utf8", "surrogatepass")  # broken input has surrogates
    return hash_bytes(data, len(data), 0)


cdef enum:
    PUNCTUATION = 1    # the label is among the head table's punctuation
    CONJUNCTION = 2    # links conjuncts
    PREPOSITIONAL = 4  # the label of a prepositional phrase
    CLOSED = 8         # the tag of a closed class


# A tree as numbers. Nodes are counted in pre-order; the subtree of node k is k : k + sizes[k], and a node of size 1 is
# a POS node. The children of k are k + 1, then each time the child plus its size. Texts are 64-bit hashes.
cdef struct TreeC:
    int32_t n_nodes
    int32_t n_words
    int32_t last_content          # the last word that is not punctuation; -1: there is none
    vector[int32_t] sizes
    vector[int32_t] starts
    vector[int32_t] ends
    vector[int32_t] parents       # -1 at the root
    vector[int32_t] heads         # the head child; a POS node itself
    vector[int32_t] head_numbers  # how many children stand before the head child
    vector[int32_t] head_words    # the position of the lexical head
    vector[uint8_t] marks
    vector[uint64_t] labels       # of the second pass: with the heads that are words of closed classes
    vector[uint64_t] rules        # the hash of (label, labels of the children), 0 at POS nodes
    vector[int32_t] leaves        # word -> its POS node
    vector[int32_t] tops          # word -> the highest node whose lexical head it is
    vector[uint64_t] tags         # word -> the label of its POS node
    vector[uint64_t] words        # word -> its text

# Appends the keys of a family at a node; `family` is the hash of the family's name, folded as the first field.
ctypedef int (*FamilyC)(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil

cdef FamilyC family_function(int number) except NULL


cdef inline uint64_t label_above(const TreeC* tree, int32_t node) noexcept nogil:
    """Return the label of a node's parent, None at the root."""
    return tree.labels[tree.parents[node]] if tree.parents[node] >= 0 else <uint64_t>NONE


cdef inline uint64_t word_at(const TreeC* tree, int32_t position) noexcept nogil:
    """Return a word, None before the first and after the last."""
    return tree.words[position] if 0 <= position < tree.n_words else <uint64_t>NONE


cdef inline uint64_t tag_at(const TreeC* tree, int32_t position) noexcept nogil:
    """Return the tag of a word, None before the first and after the last."""
    return tree.tags[position] if 0 <= position < tree.n_words else <uint64_t>NONE


cdef inline uint64_t head_word(const TreeC* tree, int32_t node) noexcept nogil:
    return tree.words[tree.head_words[node]]


cdef inline uint64_t head_tag(const TreeC* tree, int32_t node) noexcept nogil:
    return tree.tags[tree.head_words[node]]


cdef inline bint is_punctuation(const TreeC* tree, int32_t node) noexcept nogil:
    return tree.marks[node] & PUNCTUATION


cdef inline bint is_top(const TreeC* tree, int32_t node) noexcept nogil:
    """Return whether a node is the maximal projection of its lexical head."""
    return tree.tops[tree.head_words[node]] == node


cdef inline int32_t argument(const TreeC* tree, int32_t phrase) noexcept nogil:
    """Return the last child that is neither the head nor punctuation; -1 if there is none."""
    cdef int32_t child = phrase + 1, found = -1
    while child < phrase + tree.sizes[phrase]:
        if child != tree.heads[phrase] and not is_punctuation(tree, child):
            found = child
        child += tree.sizes[child]
    return found


cdef inline int32_t governor(const TreeC* tree, int32_t word) noexcept nogil:
    """Return the word on which a word depends: the head of the phrase above its maximal projection; -1 at the top."""
    cdef int32_t above = tree.parents[tree.tops[word]]
    return tree.head_words[above] if above >= 0 else -1


cdef inline uint64_t length_bin(int32_t n) noexcept nogil:
    """Return the lower end of the bin of a length: 1, 2, 3, 4, 5, 7, 10, 15, 20, 30."""
    if n <= 4:
        return number(n)
    return number(5 if n < 7 else 7 if n < 10 else 10 if n < 15 else 15 if n < 20 else 20 if n < 30 else 30)


cdef inline uint64_t plus2(uint64_t key, uint64_t a, uint64_t b) noexcept nogil:
    return extended(extended(key, a), b)


cdef inline uint64_t plus3(uint64_t key, uint64_t a, uint64_t b, uint64_t c) noexcept nogil:
    return extended(plus2(key, a, b), c)


cdef inline uint64_t plus4(uint64_t key, uint64_t a, uint64_t b, uint64_t c, uint64_t d) noexcept nogil:
    return plus2(plus2(key, a, b), c, d)
