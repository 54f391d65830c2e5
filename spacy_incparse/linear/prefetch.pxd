# Prefetching memory, for tables that are too large for the processor's caches.
cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define incparse_prefetch(p) __builtin_prefetch(p)
    #else
    #define incparse_prefetch(p)
    #endif
    #if defined(__linux__)
    #include <stdint.h>
    #include <sys/mman.h>
    #endif
    static inline void incparse_huge_pages(const void* start, size_t n_bytes) {
    #if defined(__linux__) && defined(MADV_HUGEPAGE)
        const uintptr_t page = (uintptr_t)1 << 21;
        uintptr_t first = ((uintptr_t)start + page - 1) & ~(page - 1);
        uintptr_t last = ((uintptr_t)start + n_bytes) & ~(page - 1);
        if (first < last) madvise((void*)first, last - first, MADV_HUGEPAGE);
    #else
        (void)start; (void)n_bytes;
    #endif
    }
    """
    void prefetch "incparse_prefetch"(const void*) noexcept nogil
    # Asks the system for pages of 2 MB, for memory that was not written to yet: random reads from a large table wait
    # for the addresses of pages, too. Where the system has none, nothing happens.
    void huge_pages "incparse_huge_pages"(const void* start, size_t n_bytes) noexcept nogil
