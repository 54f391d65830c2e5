"""Features of fragments of trees: Charniak & Johnson (2005), section 4, NGramTree and HeadTree; Huang (2008), figure 2.

The nodes on the way from a phrase to the first or last words of its children are read once for each phrase where the
way begins, so that the time is linear in the size of a tree, however deep it is.
"""

from libc.stdint cimport int32_t, uint64_t
from libcpp.vector cimport vector

from spacy_incparse.rerank.family_functions cimport is_top, plus2
from spacy_incparse.rerank.feature_keys cimport extended, number
from spacy_incparse.rerank.packed_trees cimport TreeC


cdef int ngram_trees(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(label, the labels from each of two or three adjacent words up to it), where the phrase is the lowest above them

    The labels are a tuple for each word, its tag first. For three words two numbers follow: how many labels the first
    two words share, and the last two. The same with the words.
    """
    cdef int32_t child = node + 1, boundary, last = -1
    child += tree.sizes[child]
    while child < node + tree.sizes[node]:
        boundary = tree.starts[child]  # the words around it are in different children
        _ngram_tree(tree, node, boundary - 1, 2, family, keys)
        if boundary - 2 >= tree.starts[node] and last != boundary - 1:  # else it has been added
            _ngram_tree(tree, node, boundary - 2, 3, family, keys)
        if boundary + 2 <= tree.ends[node]:
            _ngram_tree(tree, node, boundary - 1, 3, family, keys)
        last = boundary
        child += tree.sizes[child]
    return 0


cdef int _ngram_tree(
    const TreeC* tree, int32_t node, int32_t start, int32_t n, uint64_t family, vector[uint64_t]* keys
) except -1 nogil:
    """Add the fragment above n words, with and without them."""
    cdef uint64_t key = extended(family, tree.labels[node])
    cdef int32_t word
    for word in range(start, start + n):
        key = extended(key, _way_up(tree, node, word))
    if n == 3:
        key = plus2(key, number(_n_shared(tree, node, start)), number(_n_shared(tree, node, start + 1)))
    keys.push_back(key)
    for word in range(start, start + n):
        key = extended(key, tree.words[word])
    keys.push_back(key)
    return 0


cdef inline uint64_t _way_up(const TreeC* tree, int32_t top, int32_t word) noexcept nogil:
    """Hash the labels from the POS node of a word up to the child of `top`."""
    cdef uint64_t key = 0
    cdef int32_t node = tree.leaves[word]
    while node != top:
        key = extended(key, tree.labels[node])
        node = tree.parents[node]
    return key


cdef inline int32_t _n_shared(const TreeC* tree, int32_t top, int32_t word) noexcept nogil:
    """Return the number of nodes below `top` that are above both a word and the next one."""
    cdef int32_t node = tree.leaves[word], n = 0
    while node != top:
        n += tree.ends[node] > word + 1
        node = tree.parents[node]
    return n


cdef int head_trees(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(rule, number of its head child, the rule of that child, ..., tag), and with the word, at maximal projections"""
    cdef uint64_t key = family
    cdef int32_t word = tree.head_words[node]
    if not is_top(tree, node):
        return 0
    while tree.sizes[node] > 1:
        key = plus2(key, tree.rules[node], number(tree.head_numbers[node]))
        node = tree.heads[node]
    key = extended(key, tree.tags[word])
    keys.push_back(key)
    keys.push_back(extended(key, tree.words[word]))
    return 0
