"""Boosting for ranking: BoostLoss minimized feature by feature (Collins 2000, section 2.3.1 and tables 1 and 2).

The loss is a sum over pairs (i, j) of S_{i,j} e^{-M_{i,j}}, with margins M and the weights S of Collins & Koo (2005),
which are 1 in the paper of 2000. All that is known of feature k are two sums of it: W_k^+ over the pairs of which only
the better candidate has k, and W_k^- over those of which only the worse one has it.
"""

from libc.math cimport exp, log, sqrt
from libc.stdint cimport int32_t, int64_t
from libcpp.vector cimport vector

import numpy as np

from spacy_incparse.rerank.array_memory cimport doubles, int32s, int64s, writable_doubles
from spacy_incparse.rerank.best_feature cimport BestFeature

from spacy_incparse.rerank.sparse_rows import inverted

cdef enum:
    SUM_AFRESH = 1000  # rounds, after which rounding errors of the sums that table 2 changes are cleared


cdef class Boosting:
    """The state of boosting between rounds.

    is_naive: table 1, which sums over all pairs of all features in each round; else table 2, which changes the sums of
    the features that co-occur with the chosen one. n_additions counts the additions to W that rounds made.
    """
    cdef readonly object weights      # of the features, (n_features,) float64
    cdef readonly Py_ssize_t n_rounds
    cdef readonly int64_t n_additions
    cdef double smoothing             # the paper's epsilon
    cdef bint is_naive
    cdef BestFeature best
    cdef Py_ssize_t n_features, n_pairs, n_slots
    cdef tuple arrays                 # whose memory is used below
    cdef double* alphas               # the weights
    cdef double* margins              # of pairs
    cdef const double* importances    # of pairs: S
    cdef double* losses               # of pairs: S e^-M
    cdef double* sums                 # by slot: W_k^+ in 2 k, W_k^- in 2 k + 1
    cdef const int64_t* b_starts      # slots by pair: B
    cdef const int32_t* b_slots
    cdef const int64_t* a_starts      # pairs by slot: A
    cdef const int32_t* a_pairs
    cdef vector[int32_t] changed      # features whose sums this round has changed
    cdef vector[char] is_changed      # by feature

    def __init__(self, pairs, margins, importances, double smoothing, bint is_naive=False):
        cdef Py_ssize_t pair
        self.smoothing, self.is_naive = smoothing, is_naive
        self.n_features, self.n_pairs = pairs.n_features, len(margins)
        self.n_slots = 2 * self.n_features
        self.weights = np.zeros(self.n_features)
        self.best = BestFeature(self.n_features)
        self.is_changed.resize(self.n_features, 0)
        self._use_pairs(pairs)
        self._use_numbers(np.array(margins, float), np.array(importances, float))
        for pair in range(self.n_pairs):
            self.losses[pair] = self.importances[pair] * exp(-self.margins[pair])
        self._sum_afresh()

    cdef int _use_pairs(self, pairs) except -1:
        pair_starts, pairs_of_slot = inverted(pairs.slot_starts, pairs.slots, self.n_slots)
        self.arrays = pairs.slot_starts, pairs.slots, pair_starts, pairs_of_slot
        self.b_starts, self.b_slots = int64s(pairs.slot_starts), int32s(pairs.slots)
        self.a_starts, self.a_pairs = int64s(pair_starts), int32s(pairs_of_slot)
        return 0

    cdef int _use_numbers(self, margins, importances) except -1:
        losses, sums = np.zeros(self.n_pairs), np.zeros(self.n_slots)
        self.arrays += margins, importances, losses, sums
        self.alphas, self.sums = writable_doubles(self.weights), writable_doubles(sums)
        self.margins, self.importances = writable_doubles(margins), doubles(importances)
        self.losses = writable_doubles(losses)
        return 0

    def run(self, Py_ssize_t n_rounds):
        """Do some rounds, or fewer: no feature may be left that makes the loss less. Return how many were done."""
        cdef Py_ssize_t first = self.n_rounds, end = first + n_rounds
        with nogil:
            while self.n_rounds < end and self._round():
                pass
        return self.n_rounds - first

    @property
    def loss(self):
        """BoostLoss, Z in the paper."""
        return self._loss()

    cdef double _loss(self) noexcept nogil:
        cdef Py_ssize_t pair
        cdef double total = 0
        for pair in range(self.n_pairs):
            total += self.losses[pair]
        return total

    cdef bint _round(self) noexcept nogil:
        """Do one round of table 1 or 2; return whether there was a feature to choose."""
        cdef Py_ssize_t feature
        cdef double delta
        if self.is_naive or (self.n_rounds and self.n_rounds % SUM_AFRESH == 0):
            self._sum_afresh()
        if self.is_naive:
            self.n_additions += self.a_starts[self.n_slots]
        feature = self.best.best()
        if feature < 0:
            return False
        delta = self._best_weight(feature)
        self.alphas[feature] += delta
        self._move(2 * feature, delta)
        self._move(2 * feature + 1, -delta)
        self._update_gains()
        self.n_rounds += 1
        return True

    cdef double _best_weight(self, Py_ssize_t feature) noexcept nogil:
        """BestWt(k) = 1/2 log((W_k^+ + epsilon Z) / (W_k^- + epsilon Z)), the end of section 2.3.1."""
        # If the ranking is perfect, losses can be too small for a float.
        cdef double smooth = max(self.smoothing * self._loss(), 1e-300)
        return 0.5 * log((max(self.sums[2 * feature], 0.0) + smooth) / (max(self.sums[2 * feature + 1], 0.0) + smooth))

    cdef double _gain(self, Py_ssize_t feature) noexcept nogil:
        """Z - BestLoss(k) = (sqrt(W_k^+) - sqrt(W_k^-))^2, equation 3."""
        # Where a sum should be 0, rounding can leave a little less.
        cdef double root = sqrt(max(self.sums[2 * feature], 0.0)) - sqrt(max(self.sums[2 * feature + 1], 0.0))
        return root * root

    cdef void _move(self, Py_ssize_t slot, double delta) noexcept nogil:
        """Add delta to the margins of the pairs in A[slot], and change the sums of all features of these pairs."""
        cdef Py_ssize_t at, pair, place
        cdef double change, loss
        cdef int32_t other
        for at in range(self.a_starts[slot], self.a_starts[slot + 1]):
            pair = self.a_pairs[at]
            self.margins[pair] += delta
            loss = self.importances[pair] * exp(-self.margins[pair])
            change = loss - self.losses[pair]
            self.losses[pair] = loss
            if self.is_naive:
                continue
            self.n_additions += self.b_starts[pair + 1] - self.b_starts[pair]
            for place in range(self.b_starts[pair], self.b_starts[pair + 1]):
                other = self.b_slots[place]
                self.sums[other] += change
                if not self.is_changed[other >> 1]:
                    self.is_changed[other >> 1] = 1
                    self.changed.push_back(other >> 1)

    cdef void _update_gains(self) noexcept nogil:
        cdef int32_t feature
        for feature in self.changed:
            self.best.set_gain(feature, self._gain(feature))
            self.is_changed[feature] = 0
        self.changed.clear()

    cdef void _sum_afresh(self) noexcept nogil:
        """Calculate W and the gains from the pairs' losses, as table 1 does in each round."""
        cdef Py_ssize_t slot, at, feature
        cdef double total
        for slot in range(self.n_slots):
            total = 0
            for at in range(self.a_starts[slot], self.a_starts[slot + 1]):
                total += self.losses[self.a_pairs[at]]
            self.sums[slot] = total
        for feature in range(self.n_features):
            self.best.set_gain(feature, self._gain(feature))
