# The beam search of the generative model: all that it needs to go on from a prefix is in here. What makes vectors
# longer may raise MemoryError: a beam may be as wide as a user likes.
from libc.stdint cimport int32_t, uint64_t
from libcpp.vector cimport vector

from spacy_incparse.generative.walk cimport Lattice
from spacy_incparse.generative.generative_scorer cimport Probabilities, Scorer, SiteC
from spacy_incparse.incremental.beam cimport IncrementalBeam, StepC
from spacy_incparse.linear.hash_map cimport HashMapC
from spacy_incparse.incremental.state cimport FrameC


# A hypothesis: how the last word was absorbed, and what is open now. Frames are built for survivors only.
# Where analyses are merged that no later word can tell apart, it stands for all of these: `score` is then the log of
# their sum, and its moves are those of the best of them.
cdef struct HypothesisC:
    double score         # log probability
    double best          # log probability of its best analysis
    double entropy       # of its analyses, nats
    double steps         # of the last word's moves, mean over its analyses
    double survivors     # share of its analyses that extend the one that was best before
    int32_t frame        # the lowest open constituent, an index in the arena
    StepC step
    int32_t node         # of the lattice


# The beam after a word: hypotheses[first:last], best first. Levels are only ever added, so that several words may be
# tried after the same prefix. word and before are natural log probabilities of the word given the words before: the sum
# of all extensions of the beam over the sum of the beam, and the same without the words' own probabilities.
cdef struct LevelC:
    int32_t first
    int32_t last
    int32_t best         # the hypothesis with the best analysis
    int32_t n_words
    double word
    double before
    bint relaxed


cdef enum:
    N_BINS = 512


cdef class Beam(IncrementalBeam):
    cdef Probabilities probabilities
    cdef Scorer scorer
    cdef readonly Lattice lattice
    cdef int beam_size
    cdef int n_candidates            # most hypotheses built for a word, before merging
    cdef bint merges
    cdef double log_gamma            # -infinity: plain top N
    cdef vector[uint64_t] keys       # by frame: a hash of all that later decisions can read of it and of those above
    cdef HashMapC merge_memo
    cdef vector[HypothesisC] hypotheses
    cdef vector[LevelC] levels
    cdef vector[HypothesisC] candidates
    cdef vector[HypothesisC] final   # complete analyses, best first; `step.previous`: what was completed
    cdef LevelC ending               # of the last finish()
    cdef double best, cut, mass, mass_before, top
    cdef int32_t[N_BINS] bins        # candidates by score, downwards from `reference`
    cdef double reference
    cdef int start(self) except -1 nogil
    cdef void _count_open(self, int32_t frame, int* n_open, int* n_phrases) noexcept nogil
    cdef int32_t advance(self, int32_t level, int32_t first_node, int32_t last_node) except -1 nogil
    cdef int finish(self, int32_t level) except -1 nogil
    cdef tuple moves_to(self, int32_t hypothesis)
    cdef tuple _measures(self, LevelC here)
    cdef int _expand_all(self, int32_t level, int32_t first_node, int32_t last_node, LevelC* result) except -1 nogil
    cdef double _expand_beam(self, int32_t level) except -1 nogil
    cdef int _expand(self, int32_t number) except -1 nogil
    cdef int _add_chains(
        self, HypothesisC candidate, const SiteC* site, double total, const FrameC* frame
    ) except -1 nogil
    cdef void _note(self, double score) noexcept nogil
    cdef void _raise_cut(self) noexcept nogil
    cdef void _filter(self) noexcept nogil
    cdef int _build(self, HypothesisC hypothesis, const LevelC* before) except -1 nogil
    cdef int _merge(self, int32_t first) except -1 nogil
    cdef uint64_t _key(self, const FrameC* frame) noexcept nogil
    cdef int _add_keys(self) except -1 nogil
