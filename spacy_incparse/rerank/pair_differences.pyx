"""The features by which a list's best candidate differs from the others: the sets B of Collins (2000, equation 4)."""

from libc.stdint cimport int32_t, int64_t

import numpy as np

from spacy_incparse.rerank.array_memory cimport int32s, int64s, writable_int32s, writable_int64s


def pair_differences(feature_starts, features, better, worse):
    """Return the differences of pairs of candidates: starts (n_pairs + 1,) int64 and slots (n,) int32.

    better, worse: (n_pairs,) int64, candidates. A feature k that only the better one has (k in B+) is slot 2 k, one
    that only the other has (k in B-) is slot 2 k + 1; slots ascend within a pair.
    """
    cdef Py_ssize_t pair, n_pairs = len(better)
    all_starts = np.zeros(n_pairs + 1, np.int64)
    cdef const int64_t* begin = int64s(feature_starts)
    cdef const int32_t* feature = int32s(features)
    cdef const int64_t* first = int64s(better)
    cdef const int64_t* other = int64s(worse)
    cdef int64_t* starts = writable_int64s(all_starts)
    cdef int32_t* slots
    with nogil:
        for pair in range(n_pairs):
            starts[pair + 1] = starts[pair] + _differences(begin, feature, first[pair], other[pair], NULL)
    all_slots = np.empty(all_starts[n_pairs], np.int32)
    slots = writable_int32s(all_slots)
    with nogil:
        for pair in range(n_pairs):
            _differences(begin, feature, first[pair], other[pair], slots + starts[pair])
    return all_starts, all_slots


cdef Py_ssize_t _differences(
    const int64_t* starts, const int32_t* features, int64_t better, int64_t worse, int32_t* out
) noexcept nogil:
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
