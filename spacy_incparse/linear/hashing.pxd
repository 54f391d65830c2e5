# Header-only hashing for all compiled modules: a string has the same hash on every platform.
from libc.stdint cimport uint8_t, uint64_t


cdef inline uint64_t mix64(uint64_t x) noexcept nogil:
    """Apply SplitMix64's finalizer (Steele et al. 2014): a bijection; each output bit depends on all input bits."""
    x = (x ^ (x >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    x = (x ^ (x >> 27)) * <uint64_t>0x94D049BB133111EB
    return x ^ (x >> 31)


cdef inline uint64_t hash_bytes(const char* text, Py_ssize_t length, uint64_t seed) noexcept nogil:
    """Return the FNV-1a hash of the UTF-8 bytes, finalized with mix64."""
    cdef uint64_t h = <uint64_t>0xCBF29CE484222325 ^ mix64(seed)
    cdef Py_ssize_t i
    for i in range(length):
        h = (h ^ <uint8_t>text[i]) * <uint64_t>0x100000001B3
    return mix64(h)
