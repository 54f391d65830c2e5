"""The probabilities of spans if a binary tree is as probable as the exponential of the sum of its spans' scores.

    inside     I(i, j) = s(i, j) + log sum over k of exp(I(i, k) + I(k, j))
    posterior  P(i, k) and P(k, j) += P(i, j) exp(s(i, j) + I(i, k) + I(k, j) - I(i, j)), from the top down

Trees without labels are few enough to be summed up exactly: there is one number per span, and only spans that are open
have one.
"""

from libc.math cimport INFINITY, exp, log
from libc.stdint cimport int32_t, uint8_t

import numpy as np

from spacy_incparse.chart.span_limits cimport cell_of

cdef double NEGLIGIBLE = -30  # logarithm of a share of a sum


cdef class Bracketings:
    """Computes posteriors. Not for several threads at a time."""

    def posteriors_of(self, int32_t n_words, const float[::1] scores, const uint8_t[::1] is_open):
        """Return the posterior of each span: float32 (n_spans,), or None if no tree has open spans only.

        scores, is_open: by span; those of single words do not count, each tree has them.
        """
        if n_words < 1 or not scores.shape[0] == is_open.shape[0] == <Py_ssize_t>cell_of(0, n_words + 1):
            raise ValueError(f"{scores.shape[0]} scores for the spans of {n_words} words")
        found = self.run(n_words, &scores[0], &is_open[0])
        return np.array(self.posteriors, np.float32) if found else None

    cdef bint run(self, int32_t n_words, const float* scores, const uint8_t* is_open) noexcept nogil:
        """Compute `posteriors`. Return whether there is any tree."""
        cdef int32_t i, j
        cdef size_t cell
        self.n_words = n_words
        self.by_begin.assign((n_words + 1) * (n_words + 1), -INFINITY)
        self.by_end.assign((n_words + 1) * (n_words + 1), -INFINITY)
        self.sums.resize(n_words)
        self.posteriors.assign(cell_of(0, n_words + 1), 0)
        for j in range(1, n_words + 1):
            self.by_begin[(j - 1) * (n_words + 1) + j] = self.by_end[j * (n_words + 1) + j - 1] = 0
            for i in range(j - 2, -1, -1):
                cell = cell_of(i, j)
                if is_open[cell]:
                    self.by_begin[i * (n_words + 1) + j] = self._inside(i, j, scores[cell])
                    self.by_end[j * (n_words + 1) + i] = self.by_begin[i * (n_words + 1) + j]
        if self.by_begin[n_words] == -INFINITY:
            return False
        self.posteriors[cell_of(0, n_words)] = 1
        for j in range(n_words, 1, -1):
            for i in range(j - 1):
                cell = cell_of(i, j)
                if self.posteriors[cell] > 0:
                    self._pass_down(i, j, self.posteriors[cell], scores[cell])
        return True

    cdef double log_partition(self) noexcept nogil:
        """Return the logarithm of the sum over all trees; 0 for a single word."""
        return self.by_begin[self.n_words]

    cdef double _inside(self, int32_t i, int32_t j, double score) noexcept nogil:
        cdef double most = self._find_sums(i, j), total = 0
        cdef int32_t k
        if most == -INFINITY:
            return -INFINITY
        for k in range(i + 1, j):
            if self.sums[k] - most > NEGLIGIBLE:
                total += exp(self.sums[k] - most)
        return score + most + log(total)

    cdef void _pass_down(self, int32_t i, int32_t j, double posterior, double score) noexcept nogil:
        cdef double inside = self.by_begin[i * (self.n_words + 1) + j] - score
        cdef int32_t k
        cdef float part
        self._find_sums(i, j)
        for k in range(i + 1, j):
            if self.sums[k] - inside > NEGLIGIBLE:
                part = <float>(posterior * exp(self.sums[k] - inside))
                self.posteriors[cell_of(i, k)] += part
                self.posteriors[cell_of(k, j)] += part

    cdef double _find_sums(self, int32_t i, int32_t j) noexcept nogil:
        """Set the sums of the scores of both parts of a span. Return the greatest one."""
        cdef const double* left = &self.by_begin[i * (self.n_words + 1)]
        cdef const double* right = &self.by_end[j * (self.n_words + 1)]
        cdef double* sums = &self.sums[0]
        cdef double most = -INFINITY
        cdef int32_t k
        for k in range(i + 1, j):
            sums[k] = left[k] + right[k]
        for k in range(i + 1, j):
            most = sums[k] if sums[k] > most else most
        return most
