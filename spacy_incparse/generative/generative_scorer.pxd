# Exact counts of outcomes in nested contexts; probabilities of single decisions, and of all moves at one word. What
# several hypotheses share is computed once.
from libc.stdint cimport int32_t, uint32_t, uint64_t, uint8_t
from libcpp.vector cimport vector

from spacy_incparse.incremental.left_context cimport ContextC
from spacy_incparse.incremental.moves cimport Moves
from spacy_incparse.incremental.state cimport FrameC, SentenceC
from spacy_incparse.linear.hash_map cimport HashMapC, map_find
from spacy_incparse.linear.hashing cimport mix64
from spacy_incparse.linear.prefetch cimport prefetch


cdef enum:
    MAX_LEVELS = 16


# A context's outcomes are cells[begin:begin + n], and the numbers of its level in the interpolation.
cdef struct CountedC:
    double scale         # lambda / c
    double rest          # 1 - lambda
    uint32_t begin
    uint32_t n


cdef struct CellC:
    uint32_t outcome
    int32_t count


# Nested contexts form a tree: a context of level k is one of level k - 1 and one value more. So (number of the context
# above, value) is an exact 64-bit key, and where a context is unknown all that refine it are unknown too.
#
# The interpolation is P_k(o) = lambda_k c(o) / c + (1 - lambda_k) P_{k-1}(o), with P_{-1} given by the caller.
cdef inline uint64_t context_hash(int32_t above, uint32_t value) noexcept nogil:
    return mix64(<uint64_t><uint32_t>above << 32 | value)


cdef class ContextTable:
    cdef readonly int n_levels
    cdef HashMapC numbers                  # of contexts, by key
    cdef vector[CountedC] contexts
    cdef vector[CellC] cells            # sorted by outcome within a context
    cdef void add_distribution(
        self, const int32_t* path, int n_found, double base, double* probabilities, int n_outcomes
    ) noexcept nogil
    cdef double probability(self, const int32_t* path, int n_found, uint32_t outcome, double base) noexcept nogil

    cdef inline int32_t find(self, int32_t above, uint32_t value) noexcept nogil:
        """Return the number of a context; -1 where training has not seen it. `above` is -1 for the first level."""
        return map_find(&self.numbers, context_hash(above, value))

    cdef inline int walk(self, const uint32_t* values, int32_t* path) noexcept nogil:
        """Look up the contexts of a list of values, the least specific first; return how many are known."""
        cdef int level
        cdef int32_t here = -1
        for level in range(self.n_levels):
            here = self.find(here, values[level])
            if here < 0:
                return level
            path[level] = here
            prefetch(&self.contexts[here])
        return self.n_levels


# A chain that may be put on a site. score: log probability of all that it builds with the word; before: without it.
cdef struct ChainC:
    double score
    double before
    int32_t chain_id
    int32_t node         # of the lattice: the word with the tag that the chain leads to


# What can be done at a site: end it, or put one of chains[first:first + n] on it, best first. mass and mass_before:
# summed probabilities of its chains with and without the word. floor: chains below this score may be missing.
cdef struct SiteC:
    int32_t first
    int32_t n
    double stop
    double mass
    double mass_before
    double floor
    uint8_t can_stop


# A node of the trie of chains that is still to be walked, `depth` below the site, with the probability of all down to
# it; at -1, the site itself.
cdef struct PendingC:
    int32_t trie_node
    int32_t depth
    double probability


# The trained probabilities, as functions of a context's field values (incremental/left_context.pxd): no search and no
# grammar.
cdef class Probabilities:
    cdef readonly object lock    # the memos below serve one search at a time
    cdef ContextTable nodes
    cdef ContextTable words
    cdef vector[int32_t] node_fields, word_fields
    cdef int n_symbols, n_nonterminals, n_tags, root
    cdef vector[int32_t] class_of           # by number of a word: the row of its class in class_bases
    cdef vector[double] class_bases         # [class * n_tags + tag]: of one word of the class, before counts
    cdef HashMapC node_memo, word_memo
    cdef vector[double] distributions       # n_symbols each
    cdef vector[double] word_values
    cdef _spread(self, fields, values, uint32_t* all_values)
    cdef uint64_t context_key(self, const uint32_t* values) noexcept nogil
    cdef const double* distribution(self, const uint32_t* values) noexcept nogil
    cdef double word(self, const uint32_t* values, int tag, uint32_t word) noexcept nogil
    cdef uint64_t word_key(self, const uint32_t* values, int tag, uint32_t word) noexcept nogil
    cdef double compute_word(self, const uint32_t* values, int tag, uint32_t word) noexcept nogil
    cdef double outcome(self, const uint32_t* values, const int32_t* path, int n_found, int symbol) noexcept nogil
    cdef int node_path(self, const uint32_t* values, int32_t* path) noexcept nogil
    cdef double node_base(self, const uint32_t* values) noexcept nogil


cdef class Scorer:
    cdef Moves moves
    cdef Probabilities probabilities
    cdef const SentenceC* lattice
    cdef int32_t first_node, last_node   # of the word about to be absorbed: [first_node, last_node)
    cdef bint relaxed
    cdef vector[ChainC] chains
    cdef vector[SiteC] sites
    cdef HashMapC site_memo
    cdef vector[FrameC] chain_frames
    cdef vector[PendingC] pending
    cdef double lowest
    cdef void start_word(
        self, const SentenceC* lattice, int32_t first_node, int32_t last_node, bint relaxed
    ) noexcept nogil
    cdef SiteC site(self, const ContextC* context, double floor) noexcept nogil
    cdef SiteC _new_site(self, const ContextC* context, double floor) noexcept nogil
    cdef void _walk_chains(
        self, const ContextC* site, const uint32_t* site_values, int32_t node, const uint64_t* triples
    ) noexcept nogil
