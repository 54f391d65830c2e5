"""Sparse rows of ones: their products with vectors, and the index from columns to rows; columns by key.

Row r has a 1 in each of columns[starts[r] : starts[r + 1]], and 0 elsewhere. starts: (n_rows + 1,) int64. columns: (n,)
int32.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t

import numpy as np

from spacy_incparse.rerank.array_memory cimport doubles, int32s, int64s, writable_bytes

cdef enum:
    MAX_BITS = 26  # of keys, in the index of a ColumnTable


def row_sums(starts, columns, weights):
    """Return for each row the sum of the weights of its columns, (n_rows,) float64."""
    cdef Py_ssize_t row, at, n_rows = len(starts) - 1
    cdef double total
    result = np.zeros(n_rows)
    cdef const int64_t* begin = int64s(starts)
    cdef const int32_t* column = int32s(columns)
    cdef const double* weight = doubles(weights)
    cdef double* sums = doubles(result, True)
    with nogil:
        for row in range(n_rows):
            total = 0
            for at in range(begin[row], begin[row + 1]):
                total += weight[column[at]]
            sums[row] = total
    return result


def column_sums(starts, columns, row_values, Py_ssize_t n_columns):
    """Return for each column the sum of the values of the rows that have it, (n_columns,) float64."""
    cdef Py_ssize_t row, at, n_rows = len(starts) - 1
    result = np.zeros(n_columns)
    cdef const int64_t* begin = int64s(starts)
    cdef const int32_t* column = int32s(columns)
    cdef const double* values = doubles(row_values)
    cdef double* sums = doubles(result, True)
    with nogil:
        for row in range(n_rows):
            if values[row] == 0:
                continue
            for at in range(begin[row], begin[row + 1]):
                sums[column[at]] += values[row]
    return result


def inverted(starts, columns, Py_ssize_t n_columns):
    """Return the rows of each column: starts (n_columns + 1,) int64, and rows (n,) int32, ascending within a column."""
    cdef Py_ssize_t row, at, number, n_rows = len(starts) - 1, n = len(columns)
    all_starts, all_rows = np.zeros(n_columns + 1, np.int64), np.empty(n, np.int32)
    cdef const int64_t* begin = int64s(starts)
    cdef const int32_t* column = int32s(columns)
    cdef int64_t* ends = int64s(all_starts, True)
    cdef int32_t* rows = int32s(all_rows, True)
    with nogil:
        for at in range(n):
            ends[column[at] + 1] += 1
        for number in range(n_columns):
            ends[number + 1] += ends[number]
        # Filled from behind, each column's end moves down to its start.
        for row in range(n_rows - 1, -1, -1):
            for at in range(begin[row], begin[row + 1]):
                number = column[at] + 1
                ends[number] -= 1
                rows[ends[number]] = row
    # Now ends[k + 1] is the start of column k.
    return np.append(all_starts[1:], np.int64(n)), all_rows


def varies_in_list(list_starts, starts, columns, Py_ssize_t n_columns):
    """Return for each 1 whether some row of its list has a 0 in this column, (n,) bool.

    list_starts: (n_lists + 1,) int64, where the rows of each list begin.
    """
    cdef Py_ssize_t number, at, first, end, n_rows, n_lists = len(list_starts) - 1
    result, zeros = np.zeros(len(columns), bool), np.zeros(n_columns, np.int32)
    cdef const int64_t* lists = int64s(list_starts)
    cdef const int64_t* begin = int64s(starts)
    cdef const int32_t* column = int32s(columns)
    cdef char* varies = writable_bytes(result)
    cdef int32_t* counts = int32s(zeros, True)
    with nogil:
        for number in range(n_lists):
            n_rows = lists[number + 1] - lists[number]
            first, end = begin[lists[number]], begin[lists[number + 1]]
            for at in range(first, end):
                counts[column[at]] += 1
            for at in range(first, end):
                varies[at] = counts[column[at]] < n_rows
            for at in range(first, end):
                counts[column[at]] = 0
    return result


cdef class ColumnTable:
    """Columns are numbered in the order of the keys.

    keys: the bytes of distinct uint64 in ascending order.
    """

    def __init__(self, bytes keys):
        cdef const uint64_t* given = <const uint64_t*><const char*>keys
        cdef size_t n = len(keys) // sizeof(uint64_t), k, high
        cdef int bits = 1
        self.keys.assign(given, given + n)
        while bits < MAX_BITS and (<size_t>2 << bits) < n:
            bits += 1
        self.shift = 64 - bits
        self.firsts.assign((<size_t>1 << bits) + 1, 0)
        for k in range(n):
            self.firsts[(self.keys[k] >> self.shift) + 1] += 1
        for high in range(1, self.firsts.size()):
            self.firsts[high] += self.firsts[high - 1]
