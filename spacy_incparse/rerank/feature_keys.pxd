# The 64-bit keys of features: hashes of tuples, the same on every platform.
#
# A feature is a tuple: the name of its family, then fields. A field is a text, a whole number, None or a tuple of
# fields. The hash of a tuple is folded from the values of its fields, from left to right; the value of a text is its
# hash, that of a tuple likewise, that of a number n is n + 1, and that of None is 0. Compiled code folds what it has
# read from a tree and never builds the tuples; `fold` in feature_names.py does the same to a tuple.
from libc.stdint cimport int64_t, uint64_t

from spacy_incparse.linear.hashing cimport hash_bytes, mix64

cdef enum:
    NONE = 0  # the value of None: no node is there, or STOP beyond the first and last child


cdef inline uint64_t extended(uint64_t key, uint64_t value) noexcept nogil:
    """Return the hash of a tuple with one more field."""
    return mix64((key ^ value) + <uint64_t>0x9E3779B97F4A7C15)


cdef inline uint64_t number(int64_t n) noexcept nogil:
    """Return the value of a whole number."""
    return <uint64_t>n + 1


cdef inline uint64_t text_value(str text):
    """Return the value of a text."""
    data = text.encode("utf8", "surrogatepass")  # broken input has surrogates
    return hash_bytes(data, len(data), 0)
