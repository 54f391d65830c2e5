"""The table of nested contexts that the generative model looks its probabilities up in."""

from libc.stdint cimport int32_t, uint32_t, uint64_t


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
        cdef Py_ssize_t k, j, n = len(above) // sizeof(int32_t)
        cdef uint64_t total
        cdef const int32_t* outcomes_of = <const int32_t*><const char*>n_outcomes
        cdef const int32_t* all_outcomes = <const int32_t*><const char*>outcomes
        cdef const int32_t* all_counts = <const int32_t*><const char*>counts
        cdef const double* all_weights = <const double*><const char*>weights
        if not 0 < n_levels <= MAX_LEVELS:
            raise ValueError(f"a table has 1 to {MAX_LEVELS} levels, not {n_levels}")
        self.n_levels = n_levels
        self.begin.push_back(0)
        for k in range(n):
            total = 0
            for j in range(outcomes_of[k]):
                total += all_counts[self.begin[k] + j]
            self.begin.push_back(self.begin[k] + outcomes_of[k])
            self.scale.push_back(all_weights[k] / total)
            self.rest.push_back(1.0 - all_weights[k])
        for j in range(<Py_ssize_t>(len(outcomes) // sizeof(int32_t))):
            self.outcomes.push_back(all_outcomes[j])
            self.counts.push_back(all_counts[j])
        self._index(<const int32_t*><const char*>above, <const int32_t*><const char*>values, n)

    cdef _index(self, const int32_t* above, const int32_t* values, Py_ssize_t n):
        cdef uint64_t size = 16, key, slot
        cdef Py_ssize_t k
        while size < 2 * <uint64_t>n:
            size *= 2
        self.mask = size - 1
        self.keys.assign(size, 0)
        self.numbers.assign(size, -1)
        for k in range(n):
            key = <uint64_t><uint32_t>above[k] << 32 | <uint32_t>values[k]
            slot = mix64(key) & self.mask
            while self.numbers[slot] >= 0:
                slot = (slot + 1) & self.mask
            self.keys[slot], self.numbers[slot] = key, k

    def __len__(self):
        return <Py_ssize_t>self.scale.size()

    cdef void add_distribution(
        self, const int32_t* path, int n_found, double base, double* probabilities, int n_outcomes
    ) noexcept nogil:
        """Fill in the probabilities of all outcomes; `base` is that of each before anything is counted."""
        cdef int level
        cdef int32_t c
        cdef uint32_t k
        cdef double left = 1.0, scale
        for k in range(<uint32_t>n_outcomes):
            probabilities[k] = 0.0
        for level in range(n_found - 1, -1, -1):
            c = path[level]
            scale = left * self.scale[c]
            for k in range(self.begin[c], self.begin[c + 1]):
                probabilities[self.outcomes[k]] += scale * self.counts[k]
            left *= self.rest[c]
        for k in range(<uint32_t>n_outcomes):
            probabilities[k] += left * base

    cdef double probability(self, const int32_t* path, int n_found, uint32_t outcome, double base) noexcept nogil:
        """The probability of one outcome."""
        cdef int level
        cdef int32_t c
        cdef double left = 1.0, result = 0.0
        for level in range(n_found - 1, -1, -1):
            c = path[level]
            result += left * self.scale[c] * self.count(c, outcome)
            left *= self.rest[c]
        return result + left * base

    cdef int32_t count(self, int32_t context, uint32_t outcome) noexcept nogil:
        cdef uint32_t low = self.begin[context], high = self.begin[context + 1], middle
        while low < high:
            middle = (low + high) // 2
            if self.outcomes[middle] < outcome:
                low = middle + 1
            else:
                high = middle
        if low < self.begin[context + 1] and self.outcomes[low] == outcome:
            return self.counts[low]
        return 0
