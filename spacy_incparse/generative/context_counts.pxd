# Exact counts of outcomes in nested contexts, and the interpolated probabilities that they give.
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libcpp.vector cimport vector

from spacy_incparse.lexicon.hashing cimport mix64

cdef enum:
    MAX_LEVELS = 16


# Nested contexts form a tree: a context of level k is one of level k - 1 and one value more. So (number of the context
# above, value) is an exact 64-bit key, and where a context is unknown all that refine it are unknown too.
#
# The interpolation is P_k(o) = lambda_k c(o) / c + (1 - lambda_k) P_{k-1}(o), with P_{-1} given by the caller.
cdef class ContextTable:
    cdef readonly int n_levels
    cdef vector[uint64_t] keys          # open addressing; NO_KEY where a slot is free
    cdef vector[int32_t] numbers
    cdef uint64_t mask
    cdef vector[uint32_t] begin         # outcomes of context c: [begin[c], begin[c + 1])
    cdef vector[uint32_t] outcomes      # sorted within a context
    cdef vector[int32_t] counts
    cdef vector[double] scale           # by context: lambda / c
    cdef vector[double] rest            # by context: 1 - lambda
    cdef _index(self, const int32_t* above, const int32_t* values, Py_ssize_t n)
    cdef void add_distribution(
        self, const int32_t* path, int n_found, double base, double* probabilities, int n_outcomes
    ) noexcept nogil
    cdef double probability(self, const int32_t* path, int n_found, uint32_t outcome, double base) noexcept nogil
    cdef int32_t count(self, int32_t context, uint32_t outcome) noexcept nogil

    cdef inline int32_t find(self, int32_t above, uint32_t value) noexcept nogil:
        """The number of a context; -1 where training has not seen it. `above` is -1 for the first level."""
        cdef uint64_t key = <uint64_t><uint32_t>above << 32 | value
        cdef uint64_t k = mix64(key) & self.mask
        while self.numbers[k] >= 0:
            if self.keys[k] == key:
                return self.numbers[k]
            k = (k + 1) & self.mask
        return -1

    cdef inline int walk(self, const uint32_t* values, int32_t* path) noexcept nogil:
        """Look up the contexts of a list of values, the least specific first; give how many are known."""
        cdef int level
        cdef int32_t here = -1
        for level in range(self.n_levels):
            here = self.find(here, values[level])
            if here < 0:
                return level
            path[level] = here
        return self.n_levels
