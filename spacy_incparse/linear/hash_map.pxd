# A map from 64-bit keys to numbers, for all compiled modules: open addressing with linear probing.
#
# Keys: any 64-bit numbers. The lowest bits choose the place, so a key has to be a hash (mix64 in hashing.pxd) or as
#   evenly spread as one. The map compares keys, not what they were hashed from: callers accept that two contexts with
#   the same 64-bit hash are one.
# Values: whole numbers from 0 to 2**31 - 1, mostly indices of a vector. map_find returns -1 where there is no such key.
# Growth: the map doubles when it is half full. That moves all entries; values stay what they are, so keep indices and
#   not addresses. map_allot makes room in advance. A key cannot be removed.
# Clearing: map_clear takes constant time. Each entry has the stamp of the map at the time it was written; a new stamp
#   for the map frees all entries. Once in 2**32 times the memory is wiped.
# Cost: a look-up reads one cache line, rarely two. 16 bytes a place, so 32 to 64 bytes a key. map_prefetch asks for
#   the line in advance; the memory lies in huge pages where the system has them.
# Errors: MemoryError from what makes the map larger; the map stays as it was.
# Threads: none but readers at the same time.
#
# Usage, for what is computed once for each context:
#
#   cdef HashMapC numbers            # a member of a class, or a local variable
#   map_init(&numbers)
#
#   found = map_find(&numbers, key)
#   if found < 0:
#       found = results.size()
#       results.push_back(compute())
#       map_insert(&numbers, key, found)     # only for a key that is not there
#   return results[found]
#
#   map_clear(&numbers)              # before the next sentence
#   results.clear()
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libcpp.vector cimport vector

from spacy_incparse.linear.prefetch cimport huge_pages, prefetch


cdef struct MapEntryC:
    uint64_t key
    int32_t value
    uint32_t stamp  # another than the map's: the entry is free


cdef struct HashMapC:
    vector[MapEntryC] entries  # their number is a power of two
    uint32_t stamp
    size_t n                   # keys


cdef inline int map_init(HashMapC* map) except -1 nogil:
    """Make an empty map. To be called before anything else."""
    return map_allot(map, 1024)


cdef inline int map_allot(HashMapC* map, size_t n_places) except -1 nogil:
    """Make an empty map with a number of places, a power of two that is greater than the number of keys to come."""
    cdef vector[MapEntryC] entries
    entries.reserve(n_places)
    huge_pages(entries.data(), n_places * sizeof(MapEntryC))
    entries.assign(n_places, MapEntryC(0, 0, 0))
    map.entries.swap(entries)
    map.stamp, map.n = 1, 0
    return 0


cdef inline void map_clear(HashMapC* map) noexcept nogil:
    """Remove all keys. The memory is kept."""
    map.stamp += 1
    map.n = 0
    if map.stamp == 0:  # the counter came round: old stamps would look new
        map.entries.assign(map.entries.size(), MapEntryC(0, 0, 0))
        map.stamp = 1


cdef inline void map_prefetch(const HashMapC* map, uint64_t key) noexcept nogil:
    """Ask for the memory that map_find will read."""
    prefetch(&map.entries[key & (map.entries.size() - 1)])


cdef inline int32_t map_find(const HashMapC* map, uint64_t key) noexcept nogil:
    """Return the value of a key, -1 for a key that is not there."""
    cdef size_t mask = map.entries.size() - 1, k = key & mask
    while map.entries[k].stamp == map.stamp:
        if map.entries[k].key == key:
            return map.entries[k].value
        k = (k + 1) & mask
    return -1


cdef inline int map_insert(HashMapC* map, uint64_t key, int32_t value) except -1 nogil:
    """Add a key that is not there yet."""
    if 2 * map.n >= map.entries.size():
        map_grow(map)
    map_place(map, key, value)
    return 0


cdef inline void map_update(HashMapC* map, uint64_t key, int32_t value) noexcept nogil:
    """Change the value of a key that is there."""
    cdef size_t mask = map.entries.size() - 1, k = key & mask
    while map.entries[k].key != key or map.entries[k].stamp != map.stamp:
        k = (k + 1) & mask
    map.entries[k].value = value


cdef inline void map_place(HashMapC* map, uint64_t key, int32_t value) noexcept nogil:
    """Add a key that is not there yet to a map that has room for it."""
    cdef size_t mask = map.entries.size() - 1, k = key & mask
    while map.entries[k].stamp == map.stamp:
        k = (k + 1) & mask
    map.entries[k] = MapEntryC(key, value, map.stamp)
    map.n += 1


cdef inline int map_grow(HashMapC* map) except -1 nogil:
    """Double the number of places."""
    cdef HashMapC larger
    cdef size_t k
    map_allot(&larger, 2 * map.entries.size())
    for k in range(map.entries.size()):
        if map.entries[k].stamp == map.stamp:
            map_place(&larger, map.entries[k].key, map.entries[k].value)
    map.entries.swap(larger.entries)
    map.stamp = larger.stamp
    return 0
