"""The averaged perceptron over candidates, with lazy averages (Freund & Schapire 1999; Collins 2002)."""

from libc.stdint cimport int32_t, int64_t

import numpy as np

from spacy_incparse.rerank.array_memory cimport doubles, int32s, int64s, writable_doubles


cdef class RankingPerceptron:
    """Weights in training.

    data: RerankingData. base: (n_candidates,) the fixed part of F(x). best: (n_lists,) the candidates to rank first.
    """
    cdef readonly int64_t n_steps      # lists seen
    cdef readonly int64_t n_updates    # lists in which another candidate than the best stood first
    cdef tuple arrays                  # whose memory is used below
    cdef object weights, weight_sums
    cdef const int64_t* list_starts
    cdef const int64_t* feature_starts
    cdef const int64_t* best
    cdef const int32_t* features
    cdef const double* base
    cdef double* table                 # weights
    cdef double* sums                  # of step * change, so that average = table - sums / n_steps (Daume 2006)

    def __init__(self, data, base, best):
        self.arrays = data.list_starts, data.feature_starts, data.features, base, best
        self.list_starts, self.feature_starts = int64s(data.list_starts), int64s(data.feature_starts)
        self.features, self.base, self.best = int32s(data.features), doubles(base), int64s(best)
        self.weights, self.weight_sums = np.zeros(data.n_features), np.zeros(data.n_features)
        self.table, self.sums = writable_doubles(self.weights), writable_doubles(self.weight_sums)

    def learn(self, lists):
        """Learn from lists in this order: w += h(x_{i,1}) - h(x) where another candidate x has the highest F."""
        cdef Py_ssize_t at, guess, best, n = len(lists)
        cdef const int64_t* order = int64s(lists)
        with nogil:
            for at in range(n):
                self.n_steps += 1
                guess, best = self._guess(order[at]), self.best[order[at]]
                if guess != best:
                    self._add(best, 1.0)
                    self._add(guess, -1.0)
                    self.n_updates += 1

    def averaged(self):
        """Return the average over the weights after each list, (n_features,) float64.

        A change at step t counts from then on: in n_steps - t + 1 of the n_steps vectors.
        """
        return self.weights - self.weight_sums / max(self.n_steps, 1)

    cdef Py_ssize_t _guess(self, Py_ssize_t number) noexcept nogil:
        """Return the candidate with the highest F, the first of several."""
        cdef Py_ssize_t candidate, at, guess = self.list_starts[number]
        cdef double value, most = 0
        for candidate in range(self.list_starts[number], self.list_starts[number + 1]):
            value = 0
            for at in range(self.feature_starts[candidate], self.feature_starts[candidate + 1]):
                value += self.table[self.features[at]]
            value += self.base[candidate]
            if candidate == self.list_starts[number] or value > most:
                most, guess = value, candidate
        return guess

    cdef void _add(self, Py_ssize_t candidate, double change) noexcept nogil:
        cdef Py_ssize_t at
        for at in range(self.feature_starts[candidate], self.feature_starts[candidate + 1]):
            self.table[self.features[at]] += change
            self.sums[self.features[at]] += change * (self.n_steps - 1)
