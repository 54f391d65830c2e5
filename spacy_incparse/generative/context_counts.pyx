"""The table of nested contexts that the generative model looks its probabilities up in."""

from libc.stdint cimport int32_t, uint32_t, uint64_t

from spacy_incparse.linear.hash_map cimport map_allot, map_place
from spacy_incparse.linear.prefetch cimport huge_pages, prefetch


cdef class ContextTable:
    """Counts by context, with one interpolation weight a context.

    above, values: by context, the number of the one that it refines (-1 for none) and the value that it adds.
    n_outcomes: how many outcomes each context has; outcomes and counts: all of them, sorted within a context.
    weights: lambda by context. The arrays come as the bytes of int32 and, for weights, float64: typed memoryviews
    would make each module several times as large and as long to compile.
    """

    def __init__(
        self, int n_levels, bytes above, bytes values, bytes n_outcomes, bytes outcomes, bytes counts, bytes weights
    ):
        cdef Py_ssize_t k, j, n = len(above) // sizeof(int32_t), n_cells = len(outcomes) // sizeof(int32_t)
        cdef CountedC context
        cdef uint64_t total
        cdef const int32_t* outcomes_of = <const int32_t*><const char*>n_outcomes
        cdef const int32_t* all_outcomes = <const int32_t*><const char*>outcomes
        cdef const int32_t* all_counts = <const int32_t*><const char*>counts
        cdef const double* all_weights = <const double*><const char*>weights
        if not 0 < n_levels <= MAX_LEVELS:
            raise ValueError(f"a table has 1 to {MAX_LEVELS} levels, not {n_levels}")
        self.n_levels = n_levels
        self.contexts.reserve(n)
        self.cells.reserve(n_cells)
        huge_pages(self.contexts.data(), n * sizeof(CountedC))
        huge_pages(self.cells.data(), n_cells * sizeof(CellC))
        context.begin = 0
        for k in range(n):
            context.n = outcomes_of[k]
            total = 0
            for j in range(context.begin, context.begin + context.n):
                total += all_counts[j]
                self.cells.push_back(CellC(all_outcomes[j], all_counts[j]))
            context.scale, context.rest = all_weights[k] / total, 1.0 - all_weights[k]
            self.contexts.push_back(context)
            context.begin += context.n
        self._index(<const int32_t*><const char*>above, <const int32_t*><const char*>values, n)

    cdef _index(self, const int32_t* above, const int32_t* values, Py_ssize_t n):
        cdef size_t size = 16
        cdef Py_ssize_t k
        while 2 * size < 3 * <size_t>n:  # at most two thirds full: in training there are many such tables
            size *= 2
        map_allot(&self.numbers, size)
        for k in range(n):
            map_place(&self.numbers, context_hash(above[k], values[k]), k)

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
        """Return the probability of one outcome."""
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
