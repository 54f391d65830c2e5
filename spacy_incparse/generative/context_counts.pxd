# Exact counts of outcomes in nested contexts, and the interpolated probabilities that they give.
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libcpp.vector cimport vector

from spacy_incparse.linear.hash_map cimport HashMapC, map_find
from spacy_incparse.linear.hashing cimport mix64
from spacy_incparse.linear.prefetch cimport prefetch

cdef enum:
    MAX_LEVELS = 16


# A context's outcomes are cells[begin:begin + n], and the numbers of its level in the interpolation.
cdef struct CountedC:
    double scale         # lambda / c
    double rest          # 1 - lambda
    uint32_t begin
    uint32_t n


cdef struct CellC:
    uint32_t outcome
    int32_t count


# Nested contexts form a tree: a context of level k is one of level k - 1 and one value more. So (number of the context
# above, value) is an exact 64-bit key, and where a context is unknown all that refine it are unknown too.
#
# The interpolation is P_k(o) = lambda_k c(o) / c + (1 - lambda_k) P_{k-1}(o), with P_{-1} given by the caller.
cdef inline uint64_t context_hash(int32_t above, uint32_t value) noexcept nogil:
    return mix64(<uint64_t><uint32_t>above << 32 | value)


cdef class ContextTable:
    cdef readonly int n_levels
    cdef HashMapC numbers                  # of contexts, by key
    cdef vector[CountedC] contexts
    cdef vector[CellC] cells            # sorted by outcome within a context
    cdef _index(self, const int32_t* above, const int32_t* values, Py_ssize_t n)
    cdef void add_distribution(
        self, const int32_t* path, int n_found, double base, double* probabilities, int n_outcomes
    ) noexcept nogil
    cdef double probability(self, const int32_t* path, int n_found, uint32_t outcome, double base) noexcept nogil
    cdef int32_t count(self, const CountedC* context, uint32_t outcome) noexcept nogil

    cdef inline int32_t find(self, int32_t above, uint32_t value) noexcept nogil:
        """Return the number of a context; -1 where training has not seen it. `above` is -1 for the first level."""
        return map_find(&self.numbers, context_hash(above, value))

    cdef inline int walk(self, const uint32_t* values, int32_t* path) noexcept nogil:
        """Look up the contexts of a list of values, the least specific first; return how many are known."""
        cdef int level
        cdef int32_t here = -1
        for level in range(self.n_levels):
            here = self.find(here, values[level])
            if here < 0:
                return level
            path[level] = here
            prefetch(&self.contexts[here])
        return self.n_levels
