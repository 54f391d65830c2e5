# Scores of all moves at one word. What several hypotheses share is computed once (memo by context).
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libcpp.vector cimport vector

from spacy_incparse.linear.extraction cimport Templates, TemplatesC
from spacy_incparse.linear.weights cimport Weights
from spacy_incparse.incremental.left_context cimport ContextC
from spacy_incparse.linear.hash_map cimport HashMapC
from spacy_incparse.incremental.moves cimport Moves, TrieNodeC
from spacy_incparse.incremental.sentence cimport Sentence
from spacy_incparse.incremental.state cimport FrameC, SentenceC, SymbolsC


cdef enum:  # kinds of templates, in the order of features.templates.KINDS
    NODE, WORD, CHAIN, CLOSE
    # The same once more, divided for contexts inside a chain: there no constituent has a child, so that most templates
    # read the constituent's label and nothing else. Their sums are made once for each label at a word.
    NODE_BY_LABEL, WORD_BY_LABEL
    NODE_IN_CHAIN, WORD_IN_CHAIN
    N_SETS


# A chain that may be put on a site, with the score of all that it builds.
cdef struct ChainScoreC:
    int32_t score
    int32_t chain_id


# What can be done at an attachment site: end it, or put one of chains[first:first + n], best first, on it.
cdef struct SiteC:
    int32_t first
    int32_t n
    int32_t stop_score   # of node templates
    uint8_t can_stop


# A node of the trie of chains that is still to be walked, `depth` below the site, with the score of what is above it.
cdef struct PendingC:
    int32_t node
    int32_t depth
    int32_t score


# Chains that were walked from a trie node on, in a context: `walked[first:]`, below a node of this score.
cdef struct WalkedC:
    int32_t first
    int32_t score


cdef class Scorer:
    cdef readonly object lock     # the scratch memory below serves one sentence at a time
    cdef readonly Moves moves
    cdef readonly Weights weights  # kept alive: `table` is its
    cdef tuple owners             # of the templates, by kind
    cdef TemplatesC templates[8]
    cdef const int16_t* table
    cdef const int8_t* small      # the same divided by a step, if weights fit into 8 bits, or NULL
    cdef int step
    cdef const char* memory       # the one of both that is read, whose weights have so many bytes
    cdef int n_bytes
    cdef int shift
    cdef const SentenceC* sentence
    cdef int position
    cdef int alternative          # the number of the tag that the word at the position is absorbed under
    cdef int tag
    cdef bint relaxed
    cdef bint keeps_word          # whether going to where it is already forgets nothing: two searches of one sentence
    cdef vector[uint64_t] sums[8]
    cdef vector[uint32_t] rows[8]
    cdef vector[int32_t] shift_columns[8]  # of node templates: the POS node's
    cdef vector[uint64_t] hashes  # scratch memory
    cdef vector[ChainScoreC] chains
    cdef vector[SiteC] sites
    cdef vector[WalkedC] parts
    cdef vector[ChainScoreC] walked       # of all sites at the word, depth first
    cdef HashMapC site_memo, close_memo, part_memo
    cdef bint reads_far                   # whether a template reads L12 or L40
    # By symbol: where its scores begin in label_scores; NO_ROW: not made yet; EXPECTED - n: not made yet, but the rows
    # of the templates NODE_BY_LABEL and WORD_BY_LABEL are expected_rows[n:].
    cdef vector[int32_t] label_rows
    cdef vector[uint32_t] expected_rows
    cdef vector[int32_t] label_scores
    cdef vector[FrameC] chain_frames
    cdef vector[PendingC] pending
    cdef vector[int32_t] allowed, columns, column_scores
    cdef bint has_other           # whether another model has a say, too
    cdef int64_t other_total          # the other model's part of what `emit_stop` and `emit_chain` have been asked for
    cdef int begin(self, Sentence sentence) except -1
    cdef void look_up(self, const ContextC* context, const uint32_t* values) noexcept nogil
    cdef void expect(self, int symbol) noexcept nogil
    cdef int32_t other_score(self, int symbol) noexcept nogil
    cdef int32_t other_word(self) noexcept nogil
    cdef void start_word(
        self, const SentenceC* sentence, int position, int alternative, bint relaxed
    ) noexcept nogil
    cdef SiteC site(self, const ContextC* context) noexcept nogil
    cdef int32_t close_score(self, const ContextC* context) noexcept nogil
    cdef void emit_stop(self, const ContextC* context, vector[uint32_t]* features) noexcept nogil
    cdef void emit_chain(self, const ContextC* site, int32_t chain_id, vector[uint32_t]* features) noexcept nogil
    cdef bint _is_at(self, const SentenceC* sentence, int alternative, bint relaxed) noexcept nogil
    cdef void _hash(self, int kind, const uint32_t* values) noexcept nogil
    cdef int32_t _column_score(self, int kind, int column) noexcept nogil
    cdef int32_t _score_of(self, int kind, const uint32_t* rows, int column) noexcept nogil
    cdef void _set_shift_columns(self, int nodes) noexcept nogil
    cdef int32_t _shift_score(self, int nodes, int words) noexcept nogil
    cdef int32_t _shift_score_of(
        self, int nodes, const uint32_t* node_rows, int words, const uint32_t* word_rows
    ) noexcept nogil
    cdef int32_t _other_shift_score(self) noexcept nogil
    cdef SiteC _new_site(self, const ContextC* context) noexcept nogil
    cdef void _score_chains(
        self, const ContextC* context, int tag, const uint64_t* triples, const uint64_t* seen
    ) noexcept nogil
    cdef void _open_children(self, int nodes, const int32_t* by_label, int depth, int32_t score) noexcept nogil
    cdef void _walk(self, const ContextC* site) noexcept nogil
    cdef void _repeat(self, const WalkedC* part, int32_t n, int32_t score) noexcept nogil
    cdef void _open(self, const ContextC* site, const TrieNodeC* node, PendingC here) noexcept nogil
    cdef void _expect_all(self, const TrieNodeC* node) noexcept nogil
    cdef void _expect_label(self, int label) noexcept nogil
    cdef const int32_t* _scores_of_label(self, int label) noexcept nogil
    cdef void _add_chain_scores(self, size_t first) noexcept nogil
    cdef void _score_columns(self, int nodes) noexcept nogil
    cdef void _append(self, int32_t chain_id, int32_t score) noexcept nogil
    cdef void _emit(self, int kind, const uint32_t* values, int column, vector[uint32_t]* features) noexcept nogil
    cdef void _emit_other(self, const ContextC* context, const uint32_t* values, int symbol) noexcept nogil
