# What was computed for a context, by the context's hash.
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libcpp.vector cimport vector


# An open-addressing map from context keys to numbers that is emptied in constant time.
cdef struct MemoC:
    vector[uint64_t] keys
    vector[int32_t] values
    vector[uint32_t] stamps
    uint32_t stamp
    size_t n


cdef inline void memo_init(MemoC* memo) noexcept nogil:
    memo.keys.assign(1024, 0)
    memo.values.assign(1024, 0)
    memo.stamps.assign(1024, 0)
    memo.stamp, memo.n = 1, 0


cdef inline void memo_clear(MemoC* memo) noexcept nogil:
    memo.stamp += 1
    memo.n = 0
    if memo.stamp == 0:  # the counter came round: old stamps would look new
        memo.stamps.assign(memo.stamps.size(), 0)
        memo.stamp = 1


cdef inline int32_t memo_find(const MemoC* memo, uint64_t key) noexcept nogil:
    """The value of a key, which is not negative; -1 where there is none."""
    cdef size_t mask = memo.keys.size() - 1, k = key & mask
    while memo.stamps[k] == memo.stamp:
        if memo.keys[k] == key:
            return memo.values[k]
        k = (k + 1) & mask
    return -1


cdef inline void memo_place(MemoC* memo, uint64_t key, int32_t value) noexcept nogil:
    cdef size_t mask = memo.keys.size() - 1, k = key & mask
    while memo.stamps[k] == memo.stamp:
        k = (k + 1) & mask
    memo.keys[k], memo.values[k], memo.stamps[k] = key, value, memo.stamp


cdef inline void memo_grow(MemoC* memo) noexcept nogil:
    cdef vector[uint64_t] keys = memo.keys
    cdef vector[int32_t] values = memo.values
    cdef vector[uint32_t] stamps = memo.stamps
    cdef uint32_t stamp = memo.stamp
    cdef size_t k
    memo.keys.assign(2 * keys.size(), 0)
    memo.values.assign(2 * keys.size(), 0)
    memo.stamps.assign(2 * keys.size(), 0)
    memo.stamp = 1
    for k in range(keys.size()):
        if stamps[k] == stamp:
            memo_place(memo, keys[k], values[k])


cdef inline void memo_insert(MemoC* memo, uint64_t key, int32_t value) noexcept nogil:
    """Add a key that is not there yet."""
    if 2 * memo.n >= memo.keys.size():
        memo_grow(memo)
    memo_place(memo, key, value)
    memo.n += 1
