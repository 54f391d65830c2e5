"""The columns of features by their keys, for look-ups in compiled code."""

from libc.stdint cimport uint64_t

cdef enum:
    MAX_BITS = 26


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

    def __len__(self):
        return <Py_ssize_t>self.keys.size()
