# The base of training and decoding, and its beam search over the last two tags.
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libcpp.vector cimport vector

from spacy_incparse.tagging.tagger_model cimport ModelC


cdef enum:
    N_BOUNDARIES = 2  # the types before and after a sentence
    ANY_TAG = -2  # each tag in turn; -1 means before the sentence


# A hypothesis: the best way to reach this tag after `previous_tag`; no feature reads further back.
cdef struct NodeC:
    int64_t score
    int32_t tag
    int32_t previous_tag  # -1: before the sentence
    int32_t back  # the node of the word before


# Workspace, reused from sentence to sentence. Rows of `nodes` are one word each, best hypothesis first.
cdef struct SearchC:
    vector[NodeC] nodes
    vector[int32_t] n_nodes
    vector[int32_t] static_scores  # a row per word: scores that do not depend on earlier tags
    vector[uint64_t] parts  # word parts of the history templates at the current word
    vector[uint32_t] keys  # contexts of all hypotheses before the current word, a row per hypothesis or per tag
    vector[int32_t] bigram_scores  # a row per hypothesis
    vector[int32_t] scores


cdef int prepare(const ModelC* model, SearchC* search, int32_t n_words) except -1 nogil
cdef int search_tags(const ModelC* model, SearchC* search, const int32_t* types, int32_t n_words) except -1 nogil
cdef void hash_history(const ModelC* model, const SearchC* search, size_t first, int32_t tag, int32_t tag2,
                       uint32_t* keys) noexcept nogil
cdef void set_parts(const ModelC* model, SearchC* search, const int32_t* types) noexcept nogil
cdef void add_history_scores(const ModelC* model, SearchC* search, int32_t tag, int32_t tag2,
                             int32_t* scores) noexcept nogil
cdef int64_t history_score(const ModelC* model, SearchC* search, int32_t tag, int32_t tag2,
                           int32_t given) noexcept nogil
cdef void add_scores_by_tag(const ModelC* model, SearchC* search, int32_t tag, int32_t tag2, int32_t given,
                            int64_t* scores) noexcept nogil
cdef void best_tags(const ModelC* model, const SearchC* search, int32_t n_words, int32_t node,
                    int32_t* tags) noexcept nogil


cdef class Engine:
    cdef ModelC model
    cdef SearchC search
    cdef list names  # of the tags
    cdef object dictionary, clusters
    cdef dict only_tags  # word -> tag id
    cdef dict type_ids

    cdef int32_t add_type(self, tuple values, int32_t only_tag) except -1
    cdef int add_sentence(self, words, vector[int32_t]& types) except -1
