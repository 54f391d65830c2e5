# What was computed for a context, by the context's hash.
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libcpp.vector cimport vector

from spacy_incparse.lexicon.prefetch cimport huge_pages, prefetch


# What is known of a context: all in one place, so that a look-up touches one line of the processor's cache.
cdef struct EntryC:
    uint64_t key
    int32_t value
    uint32_t stamp  # another than the memo's: the entry is free


# An open-addressing map from context keys to numbers that is emptied in constant time.
cdef struct MemoC:
    vector[EntryC] entries
    uint32_t stamp
    size_t n


cdef inline void memo_init(MemoC* memo) noexcept nogil:
    memo_allot(memo, 1024)


cdef inline void memo_allot(MemoC* memo, size_t n) noexcept nogil:
    """Make an empty memo with n places, a power of two."""
    memo.entries.reserve(n)
    huge_pages(memo.entries.data(), n * sizeof(EntryC))
    memo.entries.assign(n, EntryC(0, 0, 0))
    memo.stamp, memo.n = 1, 0


cdef inline void memo_prefetch(const MemoC* memo, uint64_t key) noexcept nogil:
    """Ask for the memory that memo_find will read."""
    prefetch(&memo.entries[key & (memo.entries.size() - 1)])


cdef inline void memo_clear(MemoC* memo) noexcept nogil:
    memo.stamp += 1
    memo.n = 0
    if memo.stamp == 0:  # the counter came round: old stamps would look new
        memo.entries.assign(memo.entries.size(), EntryC(0, 0, 0))
        memo.stamp = 1


cdef inline int32_t memo_find(const MemoC* memo, uint64_t key) noexcept nogil:
    """The value of a key, which is not negative; -1 where there is none."""
    cdef size_t mask = memo.entries.size() - 1, k = key & mask
    while memo.entries[k].stamp == memo.stamp:
        if memo.entries[k].key == key:
            return memo.entries[k].value
        k = (k + 1) & mask
    return -1


cdef inline void memo_place(MemoC* memo, uint64_t key, int32_t value) noexcept nogil:
    cdef size_t mask = memo.entries.size() - 1, k = key & mask
    while memo.entries[k].stamp == memo.stamp:
        k = (k + 1) & mask
    memo.entries[k] = EntryC(key, value, memo.stamp)


cdef inline void memo_grow(MemoC* memo) noexcept nogil:
    cdef vector[EntryC] old
    cdef uint32_t stamp = memo.stamp
    cdef size_t k, n = memo.n
    old.swap(memo.entries)
    memo_allot(memo, 2 * old.size())
    memo.n = n
    for k in range(old.size()):
        if old[k].stamp == stamp:
            memo_place(memo, old[k].key, old[k].value)


cdef inline void memo_insert(MemoC* memo, uint64_t key, int32_t value) noexcept nogil:
    """Add a key that is not there yet."""
    if 2 * memo.n >= memo.entries.size():
        memo_grow(memo)
    memo_place(memo, key, value)
    memo.n += 1
