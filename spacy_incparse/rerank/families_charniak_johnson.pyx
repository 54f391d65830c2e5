"""The features of Charniak & Johnson (2005), section 4, and of Huang (2008), table 2.

Each function emits what one family has at one phrase; those with "word" in their name, at one POS node.
"""

from libc.stdint cimport int32_t, uint64_t
from libcpp.vector cimport vector

from spacy_incparse.rerank.families_conjuncts cimport coordination_length, coordination_parallelism
from spacy_incparse.rerank.families_fragments cimport head_trees, ngram_trees
from spacy_incparse.rerank.family_functions cimport (
    NamedFamilyC, governor, head_tag, head_word, label_above, length_bin, plus2, plus3, plus4, tag_at, word_at,
)
from spacy_incparse.rerank.feature_keys cimport NONE, extended, number, text_value
from spacy_incparse.rerank.packed_trees cimport PUNCTUATION, TreeC

cdef uint64_t LEFT = text_value("left"), RIGHT = text_value("right")
cdef uint64_t TAGS = text_value("tags"), WORDS = text_value("words")


cdef int add_charniak_johnson_families(vector[NamedFamilyC]* table) except -1:
    """Add the functions of these families with their names."""
    table.push_back(NamedFamilyC(b"right-branch", right_branch))
    table.push_back(NamedFamilyC(b"heavy", heavy))
    table.push_back(NamedFamilyC(b"neighbours", neighbours))
    table.push_back(NamedFamilyC(b"word", word))
    table.push_back(NamedFamilyC(b"word-projections", word_projections))
    table.push_back(NamedFamilyC(b"edges", edges))
    table.push_back(NamedFamilyC(b"word-edges", word_edges))
    table.push_back(NamedFamilyC(b"heads", heads))
    table.push_back(NamedFamilyC(b"ngram-rules", ngram_rules))
    table.push_back(NamedFamilyC(b"annotated-rules", annotated_rules))
    table.push_back(NamedFamilyC(b"coordination-parallelism", coordination_parallelism))
    table.push_back(NamedFamilyC(b"coordination-length", coordination_length))
    table.push_back(NamedFamilyC(b"ngram-trees", ngram_trees))
    table.push_back(NamedFamilyC(b"head-trees", head_trees))
    return 0


cdef int right_branch(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(whether the phrase contains the last word that is not punctuation)"""
    keys.push_back(extended(family, number(tree.starts[node] <= tree.last_content < tree.ends[node])))
    return 0


cdef int heavy(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(label, length, whether only punctuation follows in the sentence, whether punctuation follows)"""
    cdef int32_t end = tree.ends[node]
    cdef bint before_mark = end < tree.n_words and tree.marks[tree.leaves[end]] & PUNCTUATION
    cdef uint64_t key = plus2(family, tree.labels[node], length_bin(end - tree.starts[node]))
    keys.push_back(plus2(key, number(end > tree.last_content), number(before_mark)))
    return 0


cdef int neighbours(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(label, length, tag before, tag behind), and with two tags before"""
    cdef int32_t start = tree.starts[node], end = tree.ends[node]
    cdef uint64_t key = plus2(family, tree.labels[node], length_bin(end - start))
    keys.push_back(plus2(key, tag_at(tree, start - 1), tag_at(tree, end)))
    keys.push_back(plus3(key, tag_at(tree, start - 2), tag_at(tree, start - 1), tag_at(tree, end)))
    return 0


cdef int edges(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(label, side, length, the words before and after this end), and the same with tags"""
    cdef int32_t start = tree.starts[node], end = tree.ends[node]
    cdef uint64_t left = plus3(family, tree.labels[node], LEFT, length_bin(end - start))
    cdef uint64_t right = plus3(family, tree.labels[node], RIGHT, length_bin(end - start))
    keys.push_back(plus3(left, WORDS, word_at(tree, start - 1), word_at(tree, start)))
    keys.push_back(plus3(right, WORDS, word_at(tree, end - 1), word_at(tree, end)))
    keys.push_back(plus3(left, TAGS, tag_at(tree, start - 1), tag_at(tree, start)))
    keys.push_back(plus3(right, TAGS, tag_at(tree, end - 1), tag_at(tree, end)))
    return 0


cdef int word_edges(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(label, exact length, the word before, the word behind)"""
    cdef int32_t start = tree.starts[node], end = tree.ends[node]
    cdef uint64_t key = plus2(family, tree.labels[node], number(end - start))
    keys.push_back(plus2(key, word_at(tree, start - 1), word_at(tree, end)))
    return 0


cdef int word(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(word, tag), (word, tag, label above), and with two labels above"""
    cdef int32_t _
    cdef uint64_t key = extended(family, tree.words[tree.starts[node]])
    for _ in range(3):
        key = extended(key, tree.labels[node])
        keys.push_back(key)
        node = tree.parents[node]
        if node < 0:
            break
    return 0


cdef int word_projections(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(tag, label of the maximal projection, that of its governor), with the word, and with the word and one label"""
    cdef int32_t word = tree.starts[node], governing = governor(tree, word)
    cdef uint64_t projection = tree.labels[tree.tops[word]], above = NONE
    if governing >= 0:
        above = tree.labels[tree.tops[governing]]
    keys.push_back(plus3(family, tree.tags[word], projection, above))
    keys.push_back(plus3(family, tree.words[word], tree.tags[word], projection))
    keys.push_back(plus4(family, tree.words[word], tree.tags[word], projection, above))
    return 0


cdef int heads(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(label, tag of the head, tag of the dependent) with none, one and both of the words; and three tags in a chain"""
    cdef int32_t child = node + 1, governing = governor(tree, tree.head_words[node])
    cdef uint64_t tag = head_tag(tree, node), word = head_word(tree, node), key
    cdef uint64_t tag_above = tree.tags[governing] if governing >= 0 else <uint64_t>NONE
    while child < node + tree.sizes[node]:
        if child != tree.heads[node]:
            key = plus3(family, tree.labels[node], tag, head_tag(tree, child))
            keys.push_back(key)
            keys.push_back(plus2(key, word, NONE))
            keys.push_back(plus2(key, NONE, head_word(tree, child)))
            keys.push_back(plus2(key, word, head_word(tree, child)))
            keys.push_back(extended(key, tag_above))
        child += tree.sizes[child]
    return 0


cdef int ngram_rules(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(label above, label, two children in a row), and three; None beyond the first and last"""
    cdef uint64_t key = plus2(family, label_above(tree, node), tree.labels[node])
    cdef uint64_t first = NONE, second = NONE, third
    cdef int32_t child = node + 1, behind = node + tree.sizes[node]
    while child <= behind:
        third = tree.labels[child] if child < behind else <uint64_t>NONE
        keys.push_back(plus2(key, second, third))
        if child > node + 1:
            keys.push_back(plus3(key, first, second, third))
        first, second = second, third
        child += tree.sizes[child] if child < behind else 1
    return 0


cdef int annotated_rules(const TreeC* tree, int32_t node, uint64_t family, vector[uint64_t]* keys) except -1 nogil:
    """(rule, tag of the head), with the head, and (rule, label above, the one above that)"""
    cdef uint64_t key = extended(family, tree.rules[node]), above = NONE
    keys.push_back(extended(key, head_tag(tree, node)))
    keys.push_back(plus2(key, head_tag(tree, node), head_word(tree, node)))
    if tree.parents[node] >= 0:
        above = label_above(tree, tree.parents[node])
        keys.push_back(plus3(key, NONE, label_above(tree, node), above))
    return 0
