"""The features by which a list's best candidate differs from the others: the sets B of Collins (2000, equation 4)."""

from libc.stdint cimport int32_t, int64_t

import numpy as np


def pair_differences(const int64_t[::1] feature_starts, const int32_t[::1] features, const int64_t[::1] better,
                     const int64_t[::1] worse):
    """Return the differences of pairs of candidates: starts (n_pairs + 1,) int64 and slots (n,) int32.

    better, worse: (n_pairs,) candidates. A feature k that only the better one has (k in B+) is slot 2 k, one that only
    the other has (k in B-) is slot 2 k + 1; slots ascend within a pair.
    """
    cdef Py_ssize_t pair, n_pairs = better.shape[0]
    all_starts = np.zeros(n_pairs + 1, np.int64)
    cdef int64_t[::1] starts = all_starts
    cdef int32_t[::1] slots
    with nogil:
        for pair in range(n_pairs):
            starts[pair + 1] = starts[pair] + _differences(feature_starts, features, better[pair], worse[pair], NULL)
    all_slots = np.empty(all_starts[n_pairs], np.int32)
    if len(all_slots):
        slots = all_slots
        with nogil:
            for pair in range(n_pairs):
                _differences(feature_starts, features, better[pair], worse[pair], &slots[0] + starts[pair])
    return all_starts, all_slots


cdef Py_ssize_t _differences(const int64_t[::1] starts, const int32_t[::1] features, int64_t better, int64_t worse,
                             int32_t* out) noexcept nogil:
    """Return the number of differences; write their slots to `out` unless it is NULL."""
    cdef int64_t a = starts[better], a_end = starts[better + 1], b = starts[worse], b_end = starts[worse + 1]
    cdef Py_ssize_t n = 0
    while a < a_end or b < b_end:
        if a < a_end and b < b_end and features[a] == features[b]:
            a, b = a + 1, b + 1
            continue
        if b == b_end or (a < a_end and features[a] < features[b]):
            if out:
                out[n] = 2 * features[a]
            a += 1
        else:
            if out:
                out[n] = 2 * features[b] + 1
            b += 1
        n += 1
    return n
