# What the grammar lets a hypothesis do: allowed outcomes by context, and each tag's chains as a trie.
from libc.stdint cimport int32_t, uint16_t, uint64_t, uint8_t
from libcpp.vector cimport vector

from spacy_incparse.incremental.state cimport FrameC, SymbolsC
from spacy_incparse.linear.hash_map cimport HashMapC


# A node of a trie over chains from the top down. Its children lie next to each other.
cdef struct TrieNodeC:
    uint16_t label
    int32_t first_child
    int32_t n_children
    int32_t chain_id          # the chain that ends here with SHIFT; -1 where none does
    int32_t n_chains      # that end here or further down


# A chain with its tag.
cdef struct TaggedChainC:
    int32_t first         # its labels are chain_labels[first:first + n]
    int32_t n
    int32_t rank          # among its tag's chains, by falling frequency: the column of chain features
    uint16_t tag


cdef class Moves:
    cdef SymbolsC symbols
    cdef readonly int n_columns
    cdef readonly int longest_chain
    cdef readonly tuple leaves           # (tag id, chain of nonterminal ids) by chain_id
    cdef readonly dict leaf_numbers
    cdef int n_words                     # 64-bit words in a set of symbols
    cdef vector[uint8_t] head_rule, is_punctuation, is_conjunction
    cdef vector[uint8_t] is_slash        # by symbol
    cdef vector[int32_t] slash_of        # from a nonterminal to its slash label's symbol; NONE where there is none
    cdef vector[uint64_t] sets           # sets of symbols, n_words each
    cdef vector[int32_t] triples         # [parent * n_symbols + left sibling] -> set, -1 where none is allowed
    cdef HashMapC outcome_filters         # (parent, left sibling, tag) -> set
    cdef vector[TrieNodeC] trie
    cdef vector[int32_t] strict_roots, relaxed_roots   # by tag
    cdef vector[int32_t] label_columns   # what chains have below each label: columns_below
    cdef vector[int32_t] label_begin     # [(2 * tag + relaxed) * n_symbols + label], and the end
    cdef vector[TaggedChainC] tagged_chains
    cdef vector[uint16_t] chain_labels

    cdef inline const uint64_t* triple_set(self, int parent, int sibling) noexcept nogil:
        cdef int32_t k = self.triples[parent * self.symbols.n_symbols + sibling]
        if k < 0:
            return NULL
        return &self.sets[k * self.n_words]

    cdef inline const int32_t* columns_below(self, bint relaxed, int tag, int label, int* n) noexcept nogil:
        """Return the n symbols that come below a label in chains of a tag."""
        cdef size_t k = (2 * tag + relaxed) * self.symbols.n_symbols + label
        n[0] = self.label_begin[k + 1] - self.label_begin[k]
        return self.label_columns.data() + self.label_begin[k]

    cdef const uint64_t* outcome_filter(self, int parent, int sibling, int tag) noexcept nogil


cdef inline bint contains(const uint64_t* symbols, int symbol) noexcept nogil:
    return (symbols[symbol >> 6] >> (symbol & 63)) & 1


# Words `start` to `end - 1` in a phrase with the label, a symbol; NONE: with any label but that of the root.
cdef struct BracketC:
    int32_t start
    int32_t end
    int32_t label


# In the restored tree a constituent X of the search, begun at i, is the bracket (i, j, X) for the j where it ends, and
# for each j where a step X/X is put on it (transforms/left_corner.py). Both happen between the words j - 1 and j. So
# whether a bracket is there is decided by one move, given the constituents that are open:
#
#   before word i    the chain has to open an X,
#   up to word j     it has to stay open,
#   before word j    it has to end, or to get a step.
cdef class BracketConstraints:
    cdef readonly Moves moves
    cdef vector[BracketC] required     # the outer ones first
    cdef vector[BracketC] forbidden
    cdef int32_t n_words, position
    cdef vector[BracketC] starting     # required, at the position
    cdef vector[BracketC] begun        # required, begun before the position and ending after it
    cdef vector[BracketC] ending       # required, at the position
    cdef vector[BracketC] excluded     # forbidden ones that would end at the position
    cdef vector[BracketC] doomed       # before the last word: forbidden ones that would end with it
    cdef vector[char] made             # of those in `ending`, by one hypothesis
    cdef int32_t n_missing
    cdef bint ask_chains               # whether chains have to be asked for at all
    cdef void start_word(self, int32_t position) noexcept nogil
    cdef void start_hypothesis(self) noexcept nogil
    cdef bint keeps_begun(self, const FrameC* frame, const FrameC* frames) noexcept nogil
    cdef bint is_doomed(self, const FrameC* frame, const FrameC* frames) noexcept nogil
    cdef bint allows_chain(self, const FrameC* site, const TaggedChainC* chain) noexcept nogil
    cdef bint close(self, const FrameC* frame) noexcept nogil
    cdef bint _is(self, const BracketC* bracket, int32_t start, int32_t label) noexcept nogil
    cdef bint _has(self, const vector[BracketC]* brackets, int32_t start, int32_t label) noexcept nogil
    cdef bint _opens_all(self, const TaggedChainC* chain) noexcept nogil
    cdef bint _makes_missing(self, const FrameC* site) noexcept nogil
