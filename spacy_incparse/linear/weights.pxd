# Hashed weights. A feature is (row, column): the row from its context's hash, the column from the outcome; its weight
# lies at table[row + column], so that one hash serves all outcomes and neighbours share a cache line.
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint16_t, uint32_t
from libcpp.vector cimport vector


cdef class Weights:
    cdef readonly int bits        # 2**bits rows
    cdef readonly int n_columns   # columns after the last row
    cdef readonly int scale       # units that make 1.0
    cdef vector[int16_t] table
    cdef vector[int8_t] small     # the table in 8 bits, where that loses nothing: see small_data
    cdef int small_step           # of `small`; 0: not tried yet, -1: the weights do not fit
    cdef inline const int16_t* data(self) noexcept nogil:
        return self.table.data()
    cdef const int8_t* small_data(self, int* step)


cdef extern from *:
    """
    template <class W>
    static int32_t incparse_sum(const W* table, const uint32_t* rows, int n) {
        int32_t sum = 0;
        for (int k = 0; k < n; ++k) sum += table[rows[k]];
        return sum;
    }
    template <class W>
    static int32_t incparse_sum_of(const W* table, const uint32_t* rows, const int32_t* columns, int n) {
        int32_t sum = 0;
        for (int k = 0; k < n; ++k) sum += table[rows[k] + columns[k]];
        return sum;
    }
    """
    # Sums of table[rows[k]] and of table[rows[k] + columns[k]], of 8 or 16 bits.
    int32_t sum_of_rows "incparse_sum"[W](const W* table, const uint32_t* rows, int n) noexcept nogil
    int32_t sum_of_cells "incparse_sum_of"[W](
        const W* table, const uint32_t* rows, const int32_t* columns, int n
    ) noexcept nogil


cdef class AveragedWeights(Weights):
    # Lazy averaging: average = table - sums / n_steps, where sums collects step * change (Daume 2006, figure 2.3).
    cdef readonly int64_t n_steps
    cdef readonly double step_decay
    cdef int unit                     # of a change by 1 where steps do not decay
    cdef vector[int64_t] sums
    cdef vector[uint16_t] n_changes   # of each weight so far, squared ones for changes by more than 1; empty: no decay
    cdef vector[int16_t] steps        # by the number of changes: the units that a change by 1 makes
    cdef double average(self, size_t k) noexcept nogil
    cdef void add(self, uint32_t feature, int change) noexcept nogil
