# The tagger's model as plain structs, and the keys of contexts; header-only, shared by search and training.
#
# Words are represented by type ids: `fields` holds the hashed fields of each type, one row per type. A sentence is an
# array of type ids with WINDOW boundary types on either side, so that offsets never leave it. Type 0 comes before a
# sentence, type 1 after it.
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libcpp.vector cimport vector

from spacy_incparse.linear.hash_map cimport (
    HashMapC, map_allot, map_find, map_insert, map_place, map_prefetch, map_update,
)
from spacy_incparse.linear.prefetch cimport prefetch

# Weights are sparse, of (context, tag) pairs; header-only so that every compiled module inlines the look-up.
#
# A context is a 32-bit key, a hash. A map gives the place of its cells, a run in one shared pool; each cell holds a tag
# that has a weight in this context. Contexts without a weight are not in the map. In training a run of 1, 2, 4, ...
# cells is full and moves to the end of the pool with twice the room, and `totals`, parallel to the pool, holds what
# lazy averaging needs. In decoding runs are packed and `totals` is empty.
cdef enum:
    AT_ONCE = 32  # contexts that are looked up together


cdef struct CellC:
    int32_t weight
    uint16_t tag
    uint8_t is_last  # of its run


cdef struct TotalC:
    int64_t total  # sum of the weight over all steps before `step`
    int64_t step


cdef struct WeightsC:
    HashMapC runs  # from contexts to their first cells
    vector[CellC] cells
    vector[TotalC] totals


cdef inline int fill_weights(WeightsC* weights, const char* keys, const char* lengths, const char* tags,
                             const char* values, size_t n_keys) except -1:
    """Replace all weights by those in the bytes of the arrays of `tagger.SparseWeights`."""
    cdef size_t i, n_places = 1024
    cdef int32_t k, run = 0
    while n_places < 2 * n_keys:
        n_places *= 2
    map_allot(&weights.runs, n_places)
    weights.cells.clear()
    for i in range(n_keys):
        map_place(&weights.runs, (<const uint32_t*>keys)[i], run)
        for k in range(run, run + (<const int32_t*>lengths)[i]):
            weights.cells.push_back(
                CellC((<const int32_t*>values)[k], <uint16_t>(<const int32_t*>tags)[k], False)
            )
        run += (<const int32_t*>lengths)[i]
        weights.cells[run - 1].is_last = True
    return 0


cdef inline void add_scores(const WeightsC* weights, uint32_t key, int32_t* scores) noexcept nogil:
    """Add the context's weights to a row of scores, one a tag."""
    cdef int32_t run = map_find(&weights.runs, key)
    if run >= 0:
        add_cells(weights.cells.data() + run, scores)


cdef inline void add_cells(const CellC* cell, int32_t* scores) noexcept nogil:
    """Add the weights of a run of cells."""
    scores[cell.tag] += cell.weight
    while not cell.is_last:
        cell += 1
        scores[cell.tag] += cell.weight


cdef inline void add_all_scores(
    const WeightsC* weights, const uint32_t* keys, size_t n, int32_t* scores
) noexcept nogil:
    """Add the weights of n contexts to a row of scores. Ask for all memory first: waiting for it costs most."""
    cdef int32_t[AT_ONCE] runs
    cdef size_t k, n_here, n_runs
    cdef int32_t run
    while n:
        n_here = min(n, <size_t>AT_ONCE)
        for k in range(n_here):
            map_prefetch(&weights.runs, keys[k])
        n_runs = 0
        for k in range(n_here):
            run = map_find(&weights.runs, keys[k])
            if run >= 0:
                prefetch(weights.cells.data() + run)
                runs[n_runs] = run
                n_runs += 1
        for k in range(n_runs):
            add_cells(weights.cells.data() + runs[k], scores)
        keys += n_here
        n -= n_here


cdef inline int32_t score_of(const WeightsC* weights, uint32_t key, int32_t tag) noexcept nogil:
    """Return the context's weight for one tag, 0 when it has none."""
    cdef int32_t run = map_find(&weights.runs, key)
    if run < 0:
        return 0
    cdef const CellC* cell = weights.cells.data() + run
    while cell.tag != tag:
        if cell.is_last:
            return 0
        cell += 1
    return cell.weight


cdef inline int32_t append_cell(WeightsC* weights, int32_t tag, int64_t step) except -1 nogil:
    """Append a cell of weight 0, the last of its run, to the pool. Return its place."""
    weights.cells.push_back(CellC(0, <uint16_t>tag, True))
    weights.totals.push_back(TotalC(0, step))
    return <int32_t>weights.cells.size() - 1


cdef inline int32_t lengthen(WeightsC* weights, uint32_t key, int32_t run, int32_t n, int32_t tag,
                             int64_t step) except -1 nogil:
    """Add a cell of weight 0 to a run of n cells, which moves if it is full. Return the place of the cell."""
    cdef int32_t i, start
    if n & (n - 1) == 0:
        start = <int32_t>weights.cells.size()
        weights.cells.resize(start + 2 * n)
        weights.totals.resize(start + 2 * n)
        for i in range(n):
            weights.cells[start + i] = weights.cells[run + i]
            weights.totals[start + i] = weights.totals[run + i]
        map_update(&weights.runs, key, start)
        run = start
    weights.cells[run + n - 1].is_last = False
    weights.cells[run + n] = CellC(0, <uint16_t>tag, True)
    weights.totals[run + n] = TotalC(0, step)
    return run + n


cdef inline int32_t open_cell(WeightsC* weights, uint32_t key, int32_t tag, int64_t step) except -1 nogil:
    """Return the place of a context's cell for a tag. It is made, with a weight of 0, where there is none."""
    cdef int32_t run = map_find(&weights.runs, key), n = 0
    if run < 0:
        run = append_cell(weights, tag, step)
        map_insert(&weights.runs, key, run)
        return run
    while True:
        if weights.cells[run + n].tag == tag:
            return run + n
        n += 1
        if weights.cells[run + n - 1].is_last:
            return lengthen(weights, key, run, n, tag, step)


cdef inline int update_weight(WeightsC* weights, uint32_t key, int32_t tag, int32_t change,
                              int64_t step) except -1 nogil:
    """Change one weight at a step; the steps since its last change enter its total first (lazy averaging)."""
    cdef int32_t place = open_cell(weights, key, tag, step)
    cdef CellC* cell = &weights.cells[place]
    cdef TotalC* total = &weights.totals[place]
    total.total += cell.weight * (step - total.step)
    total.step = step
    cell.weight += change


cdef enum:
    WINDOW = 2


cdef struct AtomC:
    int32_t field
    int32_t offset
    uint64_t multiplier


cdef struct TemplateC:
    uint64_t base
    int32_t first_atom
    int32_t n_atoms
    uint64_t tag_multiplier  # of the previous tag; 0 if the template does not read it
    uint64_t tag2_multiplier  # of the tag before that one


cdef struct ModelC:
    int32_t n_tags
    int32_t n_outcomes  # tags, and behind them their parts
    int32_t n_fields
    int32_t beam_size
    vector[AtomC] atoms
    vector[TemplateC] word_templates[5]  # read one word, at offset -WINDOW .. WINDOW
    vector[TemplateC] window_templates  # read several words and no tag
    vector[TemplateC] bigram_templates  # read the previous tag
    vector[TemplateC] trigram_templates  # read the tag before that one
    vector[uint32_t] fields
    vector[int32_t] only_tags  # the dictionary's tag for a type; -1: none
    vector[int32_t] outcomes  # of all tags: itself, then its parts
    vector[int32_t] first_outcomes  # the place of those of each tag, and the end
    WeightsC weights


cdef inline void add_parts(const ModelC* model, int32_t* scores) noexcept nogil:
    """Add to each tag's score those of its parts, and set these to 0."""
    cdef int32_t tag, k
    if model.n_outcomes == model.n_tags:
        return
    for tag in range(model.n_tags):
        for k in range(model.first_outcomes[tag] + 1, model.first_outcomes[tag + 1]):
            scores[tag] += scores[model.outcomes[k]]
    for k in range(model.n_tags, model.n_outcomes):
        scores[k] = 0


cdef inline uint64_t word_part(const ModelC* model, const TemplateC* template, const int32_t* types) noexcept nogil:
    """Return base + sum of multiplier * field over the word atoms: multilinear hashing (Lemire & Kaser 2014)."""
    cdef uint64_t total = template.base
    cdef const AtomC* atom = model.atoms.data() + template.first_atom
    cdef int32_t i
    for i in range(template.n_atoms):
        total += atom[i].multiplier * model.fields[types[atom[i].offset] * model.n_fields + atom[i].field]
    return total


cdef inline uint32_t context_key(uint64_t total) noexcept nogil:
    """Return the high half of the sum, where multilinear hashing is universal; never 0 (`check_weights` refuses it)."""
    cdef uint32_t key = <uint32_t>(total >> 32)
    return key if key else 1


cdef inline uint32_t history_key(const TemplateC* template, uint64_t total, int32_t tag, int32_t tag2) noexcept nogil:
    """Return the key of the word part with the previous two tags added (-1: before the sentence)."""
    total += template.tag_multiplier * <uint64_t>(tag + 1)
    total += template.tag2_multiplier * <uint64_t>(tag2 + 1)
    return context_key(total)
