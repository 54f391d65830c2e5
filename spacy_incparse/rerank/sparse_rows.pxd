from libc.stdint cimport int32_t, uint64_t
from libcpp.vector cimport vector

from spacy_incparse.linear.prefetch cimport prefetch


# Sorted keys with an index on their highest bits. Keys are hashes, so few share these bits: a look-up reads the index,
# then about two keys. The column of a key is its rank.
cdef class ColumnTable:
    cdef vector[uint64_t] keys
    cdef vector[int32_t] firsts  # by the highest bits: the first key that has them; and the number of keys
    cdef int shift               # 64 minus the number of these bits

    cdef inline void ask_for(self, uint64_t key) noexcept nogil:
        """Ask for the memory that `find` will read first."""
        prefetch(&self.firsts[key >> self.shift])

    cdef inline int32_t find(self, uint64_t key) noexcept nogil:
        """Return the column of a key; -1 if it has none."""
        cdef int32_t k = self.firsts[key >> self.shift], behind = self.firsts[(key >> self.shift) + 1]
        while k < behind and self.keys[k] < key:
            k += 1
        return k if k < behind and self.keys[k] == key else -1
