# Prefetching memory, for tables that are too large for the processor's caches.
cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define incparse_prefetch(p) __builtin_prefetch(p)
    #else
    #define incparse_prefetch(p)
    #endif
    """
    void prefetch "incparse_prefetch"(const void*) noexcept nogil
