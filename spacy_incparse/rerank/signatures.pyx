"""What families of features look at around a node, as a hash: equal signatures, equal features.

Most parts of the trees of a list are the same. Whatever a family reads has to be part of the signature: a test compares
the features of each tree with those of the tree alone.
"""

from libc.stdint cimport int32_t, uint64_t
from libcpp.vector cimport vector

from spacy_incparse.rerank.family_functions cimport (
    argument, governor, head_tag, is_top, label_above, plus2, plus3, plus4, tag_at,
)
from spacy_incparse.rerank.feature_keys cimport extended, number
from spacy_incparse.rerank.packed_trees cimport PREPOSITIONAL, TreeC


cdef int node_signatures(const TreeC* tree, vector[uint64_t]* found) except -1 nogil:
    """Hash each node, its children, the rule and label above, and the words and governors around.

    tree: with lexicalized labels.
    """
    cdef int32_t node
    found.resize(tree.n_nodes)
    for node in range(tree.n_nodes):
        found[0][node] = _children(tree, node, _above(tree, node, _around(tree, node)))
    return 0


cdef uint64_t _around(const TreeC* tree, int32_t node) noexcept nogil:
    """Hash the node, and the words and tags inside and outside its ends."""
    cdef int32_t start = tree.starts[node], end = tree.ends[node]
    cdef uint64_t key = plus4(0, tree.labels[node], tree.sizes[node] == 1, start, end)
    key = plus3(key, tag_at(tree, start - 2), tag_at(tree, start - 1), tag_at(tree, start))
    return plus3(key, tag_at(tree, end - 1), tag_at(tree, end), tree.last_content)


cdef uint64_t _above(const TreeC* tree, int32_t node, uint64_t key) noexcept nogil:
    """Hash what is above the node, and above its maximal projection."""
    cdef int32_t parent = tree.parents[node], head = tree.head_words[node], governing = governor(tree, head)
    key = plus4(key, head, head_tag(tree, node), tree.labels[tree.tops[head]], is_top(tree, node))
    if parent >= 0:
        key = plus2(key, tree.rules[parent], label_above(tree, parent))
    if governing >= 0:
        key = plus3(key, number(governing), tree.tags[governing], tree.labels[tree.tops[governing]])
    return key


cdef uint64_t _children(const TreeC* tree, int32_t node, uint64_t key) noexcept nogil:
    cdef int32_t child = node + 1, behind = node + tree.sizes[node], within
    while child < behind:
        key = plus4(key, tree.labels[child], tree.ends[child], tree.head_words[child], head_tag(tree, child))
        if tree.marks[child] & PREPOSITIONAL and tree.sizes[child] > 1:
            within = argument(tree, child)
            if within >= 0:
                key = plus3(key, tree.labels[within], tree.head_words[within], head_tag(tree, within))
        child += tree.sizes[child]
    return key


cdef int subtree_signatures(const TreeC* tree, vector[uint64_t]* found) except -1 nogil:
    """Hash each node with everything below it, and whether it is the maximal projection of its head."""
    cdef int32_t node
    found.resize(tree.n_nodes)
    for node in range(tree.n_nodes):
        found[0][node] = plus3(1, tree.labels[node], tree.starts[node], tree.sizes[node])
    for node in range(tree.n_nodes - 1, 0, -1):  # children come after their parents
        found[0][tree.parents[node]] = extended(found[0][tree.parents[node]], found[0][node])
    for node in range(tree.n_nodes):
        found[0][node] = extended(found[0][node], is_top(tree, node))
    return 0
