"""Sparse rows of ones: their products with vectors, and the index from columns to rows.

Row r has a 1 in each of columns[starts[r] : starts[r + 1]], and 0 elsewhere.
"""

from libc.stdint cimport int32_t, int64_t

import numpy as np


def row_sums(const int64_t[::1] starts, const int32_t[::1] columns, const double[::1] weights):
    """Return for each row the sum of the weights of its columns, (n_rows,) float64."""
    cdef Py_ssize_t row, at, n_rows = starts.shape[0] - 1
    cdef double total
    result = np.zeros(n_rows)
    cdef double[::1] sums = result
    with nogil:
        for row in range(n_rows):
            total = 0
            for at in range(starts[row], starts[row + 1]):
                total += weights[columns[at]]
            sums[row] = total
    return result


def column_sums(const int64_t[::1] starts, const int32_t[::1] columns, const double[::1] row_values,
                Py_ssize_t n_columns):
    """Return for each column the sum of the values of the rows that have it, (n_columns,) float64."""
    cdef Py_ssize_t row, at, n_rows = starts.shape[0] - 1
    cdef double value
    result = np.zeros(n_columns)
    cdef double[::1] sums = result
    with nogil:
        for row in range(n_rows):
            value = row_values[row]
            if value == 0:
                continue
            for at in range(starts[row], starts[row + 1]):
                sums[columns[at]] += value
    return result


def inverted(const int64_t[::1] starts, const int32_t[::1] columns, Py_ssize_t n_columns):
    """Return the rows of each column: starts (n_columns + 1,) int64, and rows (n,) int32, ascending within a column."""
    cdef Py_ssize_t row, at, column, n_rows = starts.shape[0] - 1
    all_starts, all_rows = np.zeros(n_columns + 1, np.int64), np.empty(columns.shape[0], np.int32)
    cdef int64_t[::1] ends = all_starts
    cdef int32_t[::1] rows = all_rows
    with nogil:
        for at in range(columns.shape[0]):
            ends[columns[at] + 1] += 1
        for column in range(n_columns):
            ends[column + 1] += ends[column]
        # Filled from behind, each column's end moves down to its start.
        for row in range(n_rows - 1, -1, -1):
            for at in range(starts[row], starts[row + 1]):
                column = columns[at] + 1
                ends[column] -= 1
                rows[ends[column]] = row
    # Now ends[k + 1] is the start of column k.
    return np.append(all_starts[1:], np.int64(columns.shape[0])), all_rows


def varies_in_list(const int64_t[::1] list_starts, const int64_t[::1] starts, const int32_t[::1] columns,
                   Py_ssize_t n_columns):
    """Return for each 1 whether some row of its list has a 0 in this column, (n,) bool.

    list_starts: (n_lists + 1,) where the rows of each list begin.
    """
    cdef Py_ssize_t number, at, begin, end, n_rows
    result = np.zeros(columns.shape[0], bool)
    cdef char[::1] varies = result.view(np.int8)
    cdef int32_t[::1] counts = np.zeros(n_columns, np.int32)
    with nogil:
        for number in range(list_starts.shape[0] - 1):
            n_rows = list_starts[number + 1] - list_starts[number]
            begin, end = starts[list_starts[number]], starts[list_starts[number + 1]]
            for at in range(begin, end):
                counts[columns[at]] += 1
            for at in range(begin, end):
                varies[at] = counts[columns[at]] < n_rows
            for at in range(begin, end):
                counts[columns[at]] = 0
    return result
