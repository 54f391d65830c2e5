# The word-synchronous beam over pairs of (attachment site, chain).
from libc.stdint cimport int32_t, int64_t, uint32_t
from libcpp.vector cimport vector

from spacy_incparse.incremental.incremental_beam cimport IncrementalBeam, StepC
from spacy_incparse.incremental.scorer cimport Scorer, SiteC
from spacy_incparse.incremental.encoded_sentence cimport Sentence
from spacy_incparse.incremental.state cimport FrameC, SentenceC


# A hypothesis: how the last word was absorbed, and what is open now. Frames are built for survivors only.
cdef struct HypothesisC:
    int64_t score
    int32_t frame        # the lowest open constituent, an index in the arena
    StepC step


cdef class Beam(IncrementalBeam):
    cdef Scorer scorer
    cdef const SentenceC* sentence
    cdef int beam_size
    cdef double gamma            # in units of the weight table; infinity: plain top N
    cdef vector[HypothesisC] hypotheses
    cdef vector[int32_t] levels  # the hypotheses after k words are hypotheses[levels[k]:levels[k + 1]]
    cdef vector[HypothesisC] candidates
    cdef vector[int64_t] scores      # scratch memory
    cdef int64_t best_candidate
    cdef int64_t bound               # candidates below this score are not among the beam_size best
    cdef size_t next_trim            # the number of candidates at which to raise the bound
    cdef vector[HypothesisC] final   # complete analyses, best first; `step.previous`: what was completed
    cdef readonly int n_relaxed      # words, or the end, that were done again without triples
    cdef void start(self, const SentenceC* sentence) noexcept nogil
    cdef void advance(self) noexcept nogil
    cdef void finish(self) noexcept nogil
    cdef void run(self, const SentenceC* sentence) noexcept nogil
    cdef list _best(self, int k, int64_t limit)
    cdef void moves_to(self, int32_t hypothesis, vector[int32_t]* n_closings, vector[int32_t]* chain_ids) noexcept nogil
    cdef void _expand_all(self, int level, bint relaxed) noexcept nogil
    cdef void _expand(self, int32_t number) noexcept nogil
    cdef void _add_chains(self, HypothesisC candidate, const SiteC* site, const FrameC* frame) noexcept nogil
    cdef void _trim(self) noexcept nogil
    cdef void _filter(self) noexcept nogil
    cdef void _keep_best(self) noexcept nogil
    cdef void _drop_below(self, double threshold) noexcept nogil
    cdef int64_t _last_score(self) noexcept nogil
    cdef void _build(self, HypothesisC hypothesis, int position) noexcept nogil
