# What all families of features share: their type, and small readings of trees.
from libc.stdint cimport int32_t, uint64_t
from libcpp.vector cimport vector

from spacy_incparse.rerank.feature_keys cimport NONE, extended, number
from spacy_incparse.rerank.packed_trees cimport PUNCTUATION, TreeC

# Appends the keys of a family at a node; `family` is the hash of the family's name, folded as the first field.
ctypedef int (*FamilyC)(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil

cdef struct NamedFamilyC:
    const char* name
    FamilyC extract

cdef FamilyC family_function(bytes name) except NULL


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
