"""Greedy log loss: LogLoss minimized feature by feature, by iterative scaling (Collins 2000, section 2.3.2).

Of a list, a feature k needs only its share: the probability of the candidates that have it, s = sum of h_k(x) P(x). If
the weight of k is raised by delta, the share becomes s e^delta / (1 + s (e^delta - 1)), because the list's normalizer
becomes 1 + s (e^delta - 1) times as large. So an iteration of scaling takes one term per list that has k.
"""

from libc.math cimport exp, fabs, log
from libc.stdint cimport int32_t, int64_t
from libcpp.vector cimport vector

import numpy as np

from spacy_incparse.rerank.array_memory cimport int32s, int64s, writable_doubles
from spacy_incparse.rerank.best_feature cimport BestFeature


cdef class GreedyLogLoss:
    """The state between rounds. A "place" is a pair (feature, list): one for each list in which a feature varies.

    data: RerankingData. values: (n_candidates,) F(x) at the start. best: (n_lists,) the candidates x_{i,1}.
    n_scaled counts the features whose BestWt was calculated, n_iterations the iterations of scaling that this took, and
    n_additions all terms of sums: of shares, and of expected numbers of features.
    """
    cdef readonly object weights           # of the features, (n_features,) float64
    cdef readonly Py_ssize_t n_rounds
    cdef readonly int64_t n_scaled, n_iterations, n_additions
    cdef double smoothing, tolerance
    cdef int max_iterations
    cdef BestFeature best_feature
    cdef Py_ssize_t n_features, n_lists
    cdef tuple arrays                      # whose memory is used below
    cdef object list_probabilities, best_candidates
    cdef double* alphas                    # of features: weights
    cdef double* deltas                    # of features: BestWt(k)
    cdef double* values                    # of candidates: F(x)
    cdef double* probabilities             # of candidates: P(x)
    cdef const int64_t* list_starts
    cdef const int64_t* feature_starts
    cdef const int64_t* best
    cdef const int32_t* features
    cdef vector[int64_t] place_starts      # by feature: its places
    cdef vector[int32_t] places            # parallel to `features`: the place of a candidate's feature
    cdef vector[int32_t] list_of_place
    cdef vector[double] shares             # by place
    cdef vector[char] is_on_best           # by place: whether x_{i,1} has the feature
    cdef vector[int32_t] changed           # features whose shares this round has changed
    cdef vector[char] is_changed           # by feature

    def __init__(self, data, values, best, double smoothing, double tolerance, int max_iterations):
        cdef Py_ssize_t number
        self.smoothing, self.tolerance, self.max_iterations = smoothing, tolerance, max_iterations
        self.n_features, self.n_lists = data.n_features, data.n_lists
        self.weights, self.best_candidates = np.zeros(self.n_features), best
        self.best_feature = BestFeature(self.n_features)
        self.is_changed.resize(self.n_features, 0)
        self._use_arrays(data, np.array(values, float), np.zeros(self.n_features))
        with nogil:
            self._find_places()
            for number in range(self.n_lists):
                self._update_probabilities(number)
                self._update_shares(number)
            self._scale_changed()
        self.n_additions = self.n_scaled = self.n_iterations = 0

    cdef int _use_arrays(self, data, values, deltas) except -1:
        self.list_probabilities = np.zeros(len(values))
        self.arrays = data.list_starts, data.feature_starts, data.features, values, deltas
        self.list_starts, self.feature_starts = int64s(data.list_starts), int64s(data.feature_starts)
        self.features, self.best = int32s(data.features), int64s(self.best_candidates)
        self.alphas, self.deltas = writable_doubles(self.weights), writable_doubles(deltas)
        self.values, self.probabilities = writable_doubles(values), writable_doubles(self.list_probabilities)
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
        """LogLoss, equation 1."""
        return -np.log(self.list_probabilities[self.best_candidates]).sum()

    cdef bint _round(self) noexcept nogil:
        cdef Py_ssize_t place, feature = self.best_feature.best()
        cdef double delta
        if feature < 0:
            return False
        delta = self.deltas[feature]
        self.alphas[feature] += delta
        for place in range(self.place_starts[feature], self.place_starts[feature + 1]):
            self._raise_values(self.list_of_place[place], <int32_t>place, delta)
            self._update_probabilities(self.list_of_place[place])
            self._update_shares(self.list_of_place[place])
        self._scale_changed()
        self.n_rounds += 1
        return True

    cdef void _scale_changed(self) noexcept nogil:
        """Find the best weights of the features that occur in lists whose probabilities have changed."""
        cdef int32_t feature
        for feature in self.changed:
            self._scale(feature)
            self.is_changed[feature] = 0
        self.changed.clear()

    cdef void _scale(self, Py_ssize_t feature) noexcept nogil:
        """Find BestWt(k) and BestLoss(k) by iterative scaling: delta += log(h_k / p_k) until delta stays.

        For smoothing, lists of two equal candidates are added, of which one has k: so many with k on the best, and so
        many with k on the other. Without them the weight of what is on all best candidates, or on none, is infinite.
        """
        cdef Py_ssize_t place, begin = self.place_starts[feature], end = self.place_starts[feature + 1]
        cdef double n_seen = self.smoothing, n_expected, delta = 0, step, growth, gain = 0
        cdef int _iteration
        for place in range(begin, end):
            n_seen += self.is_on_best[place]
        for _iteration in range(self.max_iterations):
            growth = exp(delta)
            n_expected = 2 * self.smoothing * growth / (1 + growth)
            for place in range(begin, end):
                n_expected += self.shares[place] * growth / (1 + self.shares[place] * (growth - 1))
            step = log(n_seen / n_expected)
            delta += step
            self.n_iterations += 1
            self.n_additions += end - begin
            if fabs(step) < self.tolerance:
                break
        growth = exp(delta)
        for place in range(begin, end):
            gain += self.is_on_best[place] * delta - log(1 + self.shares[place] * (growth - 1))
        self.deltas[feature] = delta
        # An update that is as small as the tolerance of scaling would be chosen for ever without any gain.
        self.best_feature.set_gain(feature, gain if fabs(delta) > self.tolerance else 0)
        self.n_scaled += 1

    cdef void _raise_values(self, Py_ssize_t number, int32_t place, double delta) noexcept nogil:
        """Add delta to F of those candidates of a list that have the place's feature."""
        cdef Py_ssize_t candidate, at
        for candidate in range(self.list_starts[number], self.list_starts[number + 1]):
            for at in range(self.feature_starts[candidate], self.feature_starts[candidate + 1]):
                if self.places[at] == place:
                    self.values[candidate] += delta
                    break

    cdef void _update_probabilities(self, Py_ssize_t number) noexcept nogil:
        cdef Py_ssize_t candidate, begin = self.list_starts[number], end = self.list_starts[number + 1]
        cdef double most = self.values[begin], total = 0
        for candidate in range(begin, end):
            most = max(most, self.values[candidate])
        for candidate in range(begin, end):
            self.probabilities[candidate] = exp(self.values[candidate] - most)
            total += self.probabilities[candidate]
        for candidate in range(begin, end):
            self.probabilities[candidate] /= total

    cdef void _update_shares(self, Py_ssize_t number) noexcept nogil:
        """Calculate the shares of all features of a list, and note that these have changed."""
        cdef Py_ssize_t candidate, at
        cdef int64_t begin = self.feature_starts[self.list_starts[number]]
        cdef int64_t end = self.feature_starts[self.list_starts[number + 1]]
        cdef int32_t feature
        for at in range(begin, end):
            self.shares[self.places[at]] = 0
        for candidate in range(self.list_starts[number], self.list_starts[number + 1]):
            for at in range(self.feature_starts[candidate], self.feature_starts[candidate + 1]):
                self.shares[self.places[at]] += self.probabilities[candidate]
                feature = self.features[at]
                if not self.is_changed[feature]:
                    self.is_changed[feature] = 1
                    self.changed.push_back(feature)
        self.n_additions += end - begin

    cdef void _find_places(self) noexcept nogil:
        """Number the pairs (feature, list), ordered by feature, then by list."""
        cdef Py_ssize_t number, at, feature
        cdef vector[int32_t] last_list
        cdef vector[int64_t] next_place
        last_list.resize(self.n_features, -1)
        self.place_starts.resize(self.n_features + 1, 0)
        for number in range(self.n_lists):
            for at in range(self._first(number), self._first(number + 1)):
                if last_list[self.features[at]] != number:
                    last_list[self.features[at]] = number
                    self.place_starts[self.features[at] + 1] += 1
        for feature in range(self.n_features):
            self.place_starts[feature + 1] += self.place_starts[feature]
        next_place = self.place_starts
        self.list_of_place.resize(self.place_starts[self.n_features])
        self.shares.resize(self.list_of_place.size(), 0)
        self.is_on_best.resize(self.list_of_place.size(), 0)
        self.places.resize(self._first(self.n_lists))
        last_list.assign(self.n_features, -1)
        for number in range(self.n_lists):
            for at in range(self._first(number), self._first(number + 1)):
                feature = self.features[at]
                if last_list[feature] != number:
                    last_list[feature] = number
                    self.list_of_place[next_place[feature]] = number
                    next_place[feature] += 1
                self.places[at] = next_place[feature] - 1
            for at in range(self.feature_starts[self.best[number]], self.feature_starts[self.best[number] + 1]):
                self.is_on_best[self.places[at]] = 1

    cdef int64_t _first(self, Py_ssize_t number) noexcept nogil:
        """Return where the features of a list begin."""
        return self.feature_starts[self.list_starts[number]]
