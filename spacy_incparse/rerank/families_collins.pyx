"""The features of Collins (2000), section 3. Each function emits what one family has at one phrase."""

from libc.stdint cimport int32_t, uint64_t
from libcpp.vector cimport vector

from spacy_incparse.rerank.feature_keys cimport NONE, extended, number, text_value
from spacy_incparse.rerank.family_functions cimport (
    NamedFamilyC, argument, head_word, label_above, plus2, plus3, plus4,
)
from spacy_incparse.rerank.packed_trees cimport PREPOSITIONAL, TreeC

cdef enum:
    MAX_DISTANCE = 9  # the paper's largest x of dist <= x; here of dist >= x as well, and of dist itself

cdef uint64_t LEFT = text_value("left"), RIGHT = text_value("right"), HEAD = text_value("!")
cdef uint64_t AT_MOST = text_value("<="), AT_LEAST = text_value(">=")


cdef int add_collins_families(vector[NamedFamilyC]* table) except -1:
    """Add the functions of these families with their names."""
    table.push_back(NamedFamilyC(b"rules", rules))
    table.push_back(NamedFamilyC(b"bigrams", bigrams))
    table.push_back(NamedFamilyC(b"grandparent-rules", grandparent_rules))
    table.push_back(NamedFamilyC(b"grandparent-bigrams", grandparent_bigrams))
    table.push_back(NamedFamilyC(b"lexical-bigrams", lexical_bigrams))
    table.push_back(NamedFamilyC(b"two-level-rules", two_level_rules))
    table.push_back(NamedFamilyC(b"two-level-bigrams", two_level_bigrams))
    table.push_back(NamedFamilyC(b"trigrams", trigrams))
    table.push_back(NamedFamilyC(b"head-modifiers", head_modifiers))
    table.push_back(NamedFamilyC(b"prepositional-phrases", prepositional_phrases))
    table.push_back(NamedFamilyC(b"distance-head-modifiers", distance_head_modifiers))
    return 0


cdef int rules(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(rule)"""
    keys.push_back(extended(family, tree.rules[node]))
    return 0


cdef int grandparent_rules(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(label above, rule)"""
    if tree.parents[node] >= 0:
        keys.push_back(plus2(family, label_above(tree, node), tree.rules[node]))
    return 0


cdef int two_level_rules(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(rule above, rule)"""
    if tree.parents[node] >= 0:
        keys.push_back(plus2(family, tree.rules[tree.parents[node]], tree.rules[node]))
    return 0


cdef int bigrams(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(side, label, child, next child on the way from the head)"""
    return _bigrams(tree, node, family, keys, False)


cdef int lexical_bigrams(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(side, label, child, next child, head word of the child, head word of the next child)"""
    return _bigrams(tree, node, family, keys, True)


cdef int grandparent_bigrams(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(label above, side, label, child, next child)"""
    if tree.parents[node] < 0:
        return 0
    return _bigrams(tree, node, extended(family, label_above(tree, node)), keys, False)


cdef int two_level_bigrams(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(rule above, side, label, child, next child)"""
    if tree.parents[node] < 0:
        return 0
    return _bigrams(tree, node, extended(family, tree.rules[tree.parents[node]]), keys, False)


cdef int _bigrams(
    const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys, bint with_words
) except -1 nogil:
    cdef uint64_t left = plus2(family, LEFT, tree.labels[node]), right = plus2(family, RIGHT, tree.labels[node])
    cdef int32_t head = tree.heads[node], child = node + 1, behind = node + tree.sizes[node], following
    if child < head:
        keys.push_back(_bigram(tree, left, child, -1, with_words))
    while child < behind:
        following = child + tree.sizes[child]
        if following < head:
            keys.push_back(_bigram(tree, left, following, child, with_words))
        elif child > head:
            keys.push_back(_bigram(tree, right, child, following if following < behind else -1, with_words))
        child = following
    return 0


cdef inline uint64_t _bigram(
    const TreeC* tree, uint64_t key, int32_t child, int32_t following, bint with_words
) noexcept nogil:
    key = plus2(key, tree.labels[child], tree.labels[following] if following >= 0 else <uint64_t>NONE)
    if with_words:
        key = plus2(key, head_word(tree, child), head_word(tree, following) if following >= 0 else <uint64_t>NONE)
    return key


cdef int trigrams(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(label, three children in a row, the head marked; None beyond the first and last)"""
    cdef uint64_t key = extended(family, tree.labels[node]), first = NONE, second = NONE, third
    cdef int32_t child = node + 1, behind = node + tree.sizes[node]
    while child < behind:
        third = tree.labels[child]
        if child == tree.heads[node]:
            third = plus2(0, third, HEAD)
        if child > node + 1:
            keys.push_back(plus3(key, first, second, third))
        first, second = second, third
        child += tree.sizes[child]
    keys.push_back(plus3(key, first, second, NONE))
    return 0


cdef int head_modifiers(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(side, label, head, modifier), and (label above, side, label, head, modifier)"""
    cdef int32_t head = tree.heads[node], child = node + 1
    cdef uint64_t above = extended(family, label_above(tree, node))
    while child < node + tree.sizes[node]:
        if child != head:
            side = LEFT if child < head else RIGHT
            keys.push_back(plus4(family, side, tree.labels[node], tree.labels[head], tree.labels[child]))
            keys.push_back(plus4(above, side, tree.labels[node], tree.labels[head], tree.labels[child]))
        child += tree.sizes[child]
    return 0


cdef int prepositional_phrases(
    const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys
) except -1 nogil:
    """(label, head, PP, argument of the preposition, the lexical heads of the last three), also without the first"""
    cdef int32_t head = tree.heads[node], child = node + 1, within
    while child < node + tree.sizes[node]:
        if child != head and tree.marks[child] & PREPOSITIONAL and tree.sizes[child] > 1:
            within = argument(tree, child)
            if within >= 0:
                key = plus4(family, tree.labels[node], tree.labels[head], tree.labels[child], tree.labels[within])
                keys.push_back(plus3(key, head_word(tree, head), head_word(tree, child), head_word(tree, within)))
                keys.push_back(plus2(key, head_word(tree, child), head_word(tree, within)))
        child += tree.sizes[child]
    return 0


cdef int distance_head_modifiers(
    const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys
) except -1 nogil:
    """(label, head, modifier, words between their lexical heads), and that the distance is <= x, >= x"""
    cdef int32_t head = tree.heads[node], child = node + 1, distance, x
    while child < node + tree.sizes[node]:
        if child != head:
            key = plus3(family, tree.labels[node], tree.labels[head], tree.labels[child])
            distance = tree.head_words[child] - tree.head_words[head]
            distance = min(<int32_t>MAX_DISTANCE + 1, (distance if distance > 0 else -distance) - 1)
            keys.push_back(extended(key, number(distance)))
            for x in range(distance, MAX_DISTANCE + 1):
                keys.push_back(plus2(key, AT_MOST, number(x)))
            for x in range(1, min(distance, <int32_t>MAX_DISTANCE) + 1):
                keys.push_back(plus2(key, AT_LEAST, number(x)))
        child += tree.sizes[child]
    return 0
