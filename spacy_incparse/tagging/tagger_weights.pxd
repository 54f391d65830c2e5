# Sparse weights of (context, tag) pairs, header-only so that every compiled module inlines the lookup.
#
# A context is a 32-bit key. An open-addressed table (linear probing, at most half full) maps it to a run of cells in
# one shared pool; a cell holds a tag that has a weight in this context. Contexts without a weight use no memory:
# they end at an empty slot. In training a run grows by moving to the end of the pool with twice the capacity, and
# `totals`, parallel to the pool, holds the data for lazy averaging. In decoding runs are packed and `totals` is empty.
from libc.stdint cimport int32_t, int64_t, uint32_t
from libcpp.vector cimport vector

from spacy_incparse.lexicon.prefetch cimport prefetch

cdef enum:
    AT_ONCE = 32  # contexts that are looked up together


cdef struct CellC:
    int32_t tag
    int32_t weight


cdef struct TotalC:
    int64_t total  # sum of the weight over all steps before `step`
    int64_t step


cdef struct SlotC:
    uint32_t key  # 0: the slot is free
    uint32_t start  # the first cell
    int32_t n_cells
    int32_t room


cdef struct WeightsC:
    vector[SlotC] slots  # the number of slots is a power of two
    vector[CellC] cells
    vector[TotalC] totals
    size_t n_contexts


cdef inline size_t find_slot(const WeightsC* weights, uint32_t key) noexcept nogil:
    """Return the slot of the key, or the free slot where it belongs."""
    cdef size_t mask = weights.slots.size() - 1
    cdef size_t slot = key & mask
    while weights.slots[slot].key != 0 and weights.slots[slot].key != key:
        slot = (slot + 1) & mask
    return slot


cdef inline void add_scores(const WeightsC* weights, uint32_t key, int32_t* scores) noexcept nogil:
    """Add the context's weights to a row of scores, one per tag."""
    add_cells(weights, &weights.slots[find_slot(weights, key)], scores)


cdef inline void add_cells(const WeightsC* weights, const SlotC* slot, int32_t* scores) noexcept nogil:
    cdef const CellC* cell = weights.cells.data() + slot.start
    cdef int32_t i
    for i in range(slot.n_cells):
        scores[cell[i].tag] += cell[i].weight


cdef inline void add_all_scores(
    const WeightsC* weights, const uint32_t* keys, size_t n, int32_t* scores
) noexcept nogil:
    """Add the weights of n contexts to a row of scores; all memory is prefetched, since waiting for it costs most."""
    cdef size_t[AT_ONCE] slots
    cdef size_t k, n_here
    while n:
        n_here = min(n, <size_t>AT_ONCE)
        for k in range(n_here):
            prefetch_slot(weights, keys[k])
        for k in range(n_here):
            slots[k] = find_slot(weights, keys[k])
            prefetch(weights.cells.data() + weights.slots[slots[k]].start)
        for k in range(n_here):
            add_cells(weights, &weights.slots[slots[k]], scores)
        keys += n_here
        n -= n_here


cdef inline void prefetch_slot(const WeightsC* weights, uint32_t key) noexcept nogil:
    prefetch(&weights.slots[key & (weights.slots.size() - 1)])


cdef inline int32_t score_of(const WeightsC* weights, uint32_t key, int32_t tag) noexcept nogil:
    """Return the context's weight for one tag, or 0 if it has none."""
    cdef const SlotC* slot = &weights.slots[find_slot(weights, key)]
    cdef const CellC* cell = weights.cells.data() + slot.start
    cdef int32_t i
    for i in range(slot.n_cells):
        if cell[i].tag == tag:
            return cell[i].weight
    return 0


cdef inline int reserve_slots(WeightsC* weights, size_t n_contexts) except -1 nogil:
    """Make the table large enough for `n_contexts`, moving existing contexts."""
    cdef size_t n_slots = 1024
    while n_slots < 2 * n_contexts:
        n_slots *= 2
    if n_slots <= weights.slots.size():
        return 0
    cdef vector[SlotC] old
    cdef SlotC free
    free.key, free.start, free.n_cells, free.room = 0, 0, 0, 0
    old.swap(weights.slots)
    weights.slots.assign(n_slots, free)
    cdef size_t i
    for i in range(old.size()):
        if old[i].key != 0:
            weights.slots[find_slot(weights, old[i].key)] = old[i]


cdef inline SlotC* open_slot(WeightsC* weights, uint32_t key) except NULL nogil:
    """Return the context's slot, adding it if the context is new."""
    cdef size_t slot = find_slot(weights, key)
    if weights.slots[slot].key == 0:
        weights.n_contexts += 1
        reserve_slots(weights, weights.n_contexts)
        slot = find_slot(weights, key)
        weights.slots[slot].key = key
    return &weights.slots[slot]


cdef inline int append_cell(WeightsC* weights, SlotC* slot, int32_t tag, int64_t step) except -1 nogil:
    """Add a cell of weight 0 for one more tag to the context; a full run moves to the end of the pool."""
    cdef int32_t i, room
    cdef size_t start
    if slot.n_cells == slot.room:
        room = 2 * slot.room if slot.room else 1
        start = weights.cells.size()
        weights.cells.resize(start + room)
        weights.totals.resize(start + room)
        for i in range(slot.n_cells):
            weights.cells[start + i] = weights.cells[slot.start + i]
            weights.totals[start + i] = weights.totals[slot.start + i]
        slot.start, slot.room = <uint32_t>start, room
    weights.cells[slot.start + slot.n_cells] = CellC(tag, 0)
    weights.totals[slot.start + slot.n_cells] = TotalC(0, step)
    slot.n_cells += 1


cdef inline int update_weight(WeightsC* weights, uint32_t key, int32_t tag, int32_t change,
                              int64_t step) except -1 nogil:
    """Change one weight at a step; the steps since its last change enter its total first (lazy averaging)."""
    cdef SlotC* slot = open_slot(weights, key)
    cdef int32_t i = 0
    while i < slot.n_cells and weights.cells[slot.start + i].tag != tag:
        i += 1
    if i == slot.n_cells:
        append_cell(weights, slot, tag, step)
    cdef CellC* cell = &weights.cells[slot.start + i]
    cdef TotalC* total = &weights.totals[slot.start + i]
    total.total += cell.weight * (step - total.step)
    total.step = step
    cell.weight += change
