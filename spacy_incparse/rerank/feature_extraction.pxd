# Extraction of features from the candidates of a sentence; feature_extraction.pyx says how.
from libc.stdint cimport int32_t, uint64_t
from libcpp.vector cimport vector

from spacy_incparse.linear.hash_map cimport HashMapC
from spacy_incparse.rerank.family_functions cimport FamilyC
from spacy_incparse.rerank.packed_trees cimport PackedTrees, TreeC

cdef enum:
    PHRASE = 1   # fires at phrases, sees what `signatures` hashes
    WORD = 2     # the same at POS nodes
    SUBTREE = 4  # fires at phrases, sees the whole phrase


cdef struct ChosenC:
    FamilyC extract
    uint64_t family     # the hash of the name, folded as the first field of a tuple
    int scope           # PHRASE, WORD or SUBTREE
    bint lexicalized
    int32_t max_count


# Nodes of several trees that look the same to all families of a scope: their features are extracted once.
cdef struct PartC:
    int32_t tree    # one of these nodes
    int32_t node
    int scope
    bint varies     # whether trees have it in different numbers


# A feature that is present a number of times, as an indicator.
cdef struct IndicatorC:
    uint64_t value  # its key, or its column
    int32_t feature
    int32_t count


cdef class FeatureExtractor:
    cdef readonly tuple families
    cdef readonly object heads
    cdef readonly int max_count
    cdef readonly tuple closed_tags
    cdef object lock
    cdef PackedTrees packed
    cdef int scopes
    cdef vector[ChosenC] chosen
    cdef vector[PartC] parts
    cdef HashMapC part_numbers         # by signature
    cdef vector[int32_t] part_counts   # by part and tree
    cdef vector[uint64_t] features     # the keys of distinct features, without counts
    cdef HashMapC feature_numbers      # by key
    cdef vector[int32_t] feature_counts  # by feature and tree
    cdef vector[int32_t] max_counts    # by feature
    cdef vector[uint64_t] signatures   # scratch
    cdef vector[uint64_t] keys_found
    cdef vector[uint64_t] plain_keys

    cdef int _extract(self, list trees, bint drop_common) except -1
    cdef int _find_parts(self) except -1
    cdef void _mark_varying(self) noexcept
    cdef int _add_part(self, Py_ssize_t tree, int32_t node, int scope) except -1
    cdef int _count_part(self, size_t part, bint only_known) except -1
    cdef int _emit(
        self, const ChosenC* family, int32_t node, const TreeC* plain, const TreeC* lexicalized
    ) except -1
    cdef int _count_key(self, uint64_t key, int32_t max_count, const int32_t* counts, bint only_known) except -1
    cdef int _indicators(self, bint drop_common, vector[IndicatorC]* found) except -1
    cdef tuple _by_tree(self, vector[IndicatorC]* found, bint as_columns)
