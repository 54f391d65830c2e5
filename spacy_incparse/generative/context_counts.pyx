"""The table of nested contexts that the generative model looks its probabilities up in."""

from libc.stdint cimport int32_t, uint32_t, uint64_t

from spacy_incparse.derivations.context_map cimport memo_allot, memo_place
from spacy_incparse.lexicon.prefetch cimport huge_pages, prefetch


cdef class ContextTable:
    """Counts by context, with one interpolation weight a context.

    above, values: by context, the number of the one that it refines (-1 for none) and the value that it adds.
    n_outcomes: how many outcomes each context has; outcomes and counts: all of them, sorted within a context.
    weights: lambda by context. The arrays are int32 or float64 buffers.
    """

    def __init__(
        self, int n_levels, const int32_t[::1] above, const int32_t[::1] values, const int32_t[::1] n_outcomes,
        const int32_t[::1] outcomes, const int32_t[::1] counts, const double[::1] weights,
    ):
        cdef Py_ssize_t k, j, n = above.shape[0]
        cdef CountedC context
        cdef uint64_t total
        if not 0 < n_levels <= MAX_LEVELS:
            raise ValueError(f"a table has 1 to {MAX_LEVELS} levels, not {n_levels}")
        self.n_levels = n_levels
        self.contexts.reserve(n)
        self.cells.reserve(outcomes.shape[0])
        huge_pages(self.contexts.data(), n * sizeof(CountedC))
        huge_pages(self.cells.data(), outcomes.shape[0] * sizeof(CellC))
        context.begin = 0
        for k in range(n):
            context.n = n_outcomes[k]
            total = 0
            for j in range(context.begin, context.begin + context.n):
                total += counts[j]
                self.cells.push_back(CellC(outcomes[j], counts[j]))
            context.scale, context.rest = weights[k] / total, 1.0 - weights[k]
            self.contexts.push_back(context)
            context.begin += context.n
        self._index(above, values)

    def _index(self, const int32_t[::1] above, const int32_t[::1] values):
        cdef size_t size = 16
        cdef Py_ssize_t k
        while 2 * size < 3 * <size_t>above.shape[0]:  # at most two thirds full: in training there are many such tables
            size *= 2
        memo_allot(&self.numbers, size)
        for k in range(above.shape[0]):
            memo_place(&self.numbers, context_hash(above[k], values[k]), k)

    def __len__(self):
        return <Py_ssize_t>self.contexts.size()

    cdef void add_distribution(
        self, const int32_t* path, int n_found, double base, double* probabilities, int n_outcomes
    ) noexcept nogil:
        """Fill in the probabilities of all outcomes; `base` is that of each before anything is counted."""
        cdef const CountedC* context
        cdef int level
        cdef uint32_t k
        cdef double left = 1.0, scale
        for k in range(<uint32_t>n_outcomes):
            probabilities[k] = 0.0
        for level in range(n_found - 1, -1, -1):
            context = &self.contexts[path[level]]
            scale = left * context.scale
            for k in range(context.begin, context.begin + context.n):
                probabilities[self.cells[k].outcome] += scale * self.cells[k].count
            left *= context.rest
        for k in range(<uint32_t>n_outcomes):
            probabilities[k] += left * base

    cdef double probability(self, const int32_t* path, int n_found, uint32_t outcome, double base) noexcept nogil:
        """The probability of one outcome."""
        cdef const CountedC* context
        cdef int level
        cdef double left = 1.0, result = 0.0
        for level in range(n_found):
            prefetch(&self.cells[self.contexts[path[level]].begin])
        for level in range(n_found - 1, -1, -1):
            context = &self.contexts[path[level]]
            result += left * context.scale * self.count(context, outcome)
            left *= context.rest
        return result + left * base

    cdef int32_t count(self, const CountedC* context, uint32_t outcome) noexcept nogil:
        cdef uint32_t low = context.begin, end = low + context.n, high = end, middle
        while low < high:
            middle = (low + high) // 2
            if self.cells[middle].outcome < outcome:
                low = middle + 1
            else:
                high = middle
        return self.cells[low].count if low < end and self.cells[low].outcome == outcome else 0
