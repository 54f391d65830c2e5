# Sets of positions as bits.
from libc.stdint cimport int32_t, uint64_t


cdef extern from *:
    """
    #if defined(_MSC_VER)
    #include <intrin.h>
    static inline int incparse_lowest_bit(uint64_t bits) {
        unsigned long place;
        return _BitScanForward(&place, (unsigned long)bits)
            ? (int)place : (_BitScanForward(&place, (unsigned long)(bits >> 32)), (int)place + 32);
    }
    #else
    static inline int incparse_lowest_bit(uint64_t bits) { return __builtin_ctzll(bits); }
    #endif
    """
    int incparse_lowest_bit(uint64_t bits) noexcept nogil


cdef inline int32_t pop_lowest(uint64_t* bits) noexcept nogil:
    """Remove the lowest position from a set that is not empty, and return it."""
    cdef int32_t place = incparse_lowest_bit(bits[0])
    bits[0] &= bits[0] - 1
    return place
