"""The normalization steps described in treebanks/normalize.py, for whole forests."""

from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from spacy_incparse.trees.forest cimport Forest, find_parents

from spacy_incparse.trees.labels import ROOT, TRACE_TAG, WRAPPERS

DROP_EMPTIES, STRIP_FUNCTIONS, ONE_TOP, MERGE_DOUBLED = 1, 2, 4, 8   # the steps, in their order
ALL_STEPS = DROP_EMPTIES | STRIP_FUNCTIONS | ONE_TOP | MERGE_DOUBLED

cdef enum:
    IS_TRACE = 1      # the properties of a label
    IS_WRAPPER = 2
    IS_TOP = 4        # empty or TOP: dropped wherever it occurs


# A tree being edited. A POS node is a node whose first child is a word; words have odd symbols.
cdef struct DraftC:
    vector[int32_t] symbols
    vector[int32_t] sizes
    vector[bint] is_kept
    vector[int32_t] n_kept    # before each node, and after the last one


def normalized(Forest source, int steps=15):
    """Return a forest of the trees after the given steps, by default all; trees that become empty are dropped."""
    cdef Forest target = Forest(symbols=source.symbols)
    cdef int32_t top = source.symbols.label(ROOT)
    cdef vector[int32_t] kinds = _kinds(source.symbols.labels)
    cdef DraftC draft
    cdef vector[size_t] kept
    cdef size_t k
    with nogil:
        for k in range(source.firsts.size() - 1):
            _start(source, k, &draft)
            if steps & 1 and not _drop_empties(&draft, &kinds):
                continue
            if steps & 2:
                _strip_functions(&draft, &source.symbols.categories)
            if steps & 4:
                _one_top(&draft, &kinds, top)
            if steps & 8:
                _merge_doubled(&draft)
            _append(&draft, target)
            kept.push_back(k)
    target.trees = [None] * kept.size()
    if source.places is not None or kept.size() < len(source):
        target.places = [source.place(number) for number in kept]
    return target


cdef vector[int32_t] _kinds(labels):
    """Return the properties of each label, by its number."""
    return [
        IS_TRACE * (label == TRACE_TAG) + IS_WRAPPER * (label in WRAPPERS) + IS_TOP * (label in ("", ROOT))
        for label in labels
    ]


cdef inline bint _is_word(const DraftC* draft, size_t k) noexcept nogil:
    return draft.symbols[k] & 1


cdef inline bint _is_phrase(const DraftC* draft, size_t k) noexcept nogil:
    return not _is_word(draft, k) and not _is_word(draft, k + 1)


cdef inline int32_t _kind_of(const DraftC* draft, const vector[int32_t]* kinds, size_t k) noexcept nogil:
    return kinds[0][draft.symbols[k] >> 1]


cdef void _start(Forest source, size_t number, DraftC* draft) noexcept nogil:
    cdef int32_t* symbols = source.nodes.symbols.data()
    cdef int32_t* sizes = source.nodes.sizes.data()
    draft.symbols.assign(symbols + source.firsts[number], symbols + source.firsts[number + 1])
    draft.sizes.assign(sizes + source.firsts[number], sizes + source.firsts[number + 1])


cdef bint _drop_empties(DraftC* draft, const vector[int32_t]* kinds) noexcept nogil:
    """Drop traces and the phrases that have no other words; return whether anything is left."""
    cdef size_t k
    cdef int32_t n_words = 0
    draft.n_kept.clear()             # kept words before each node
    for k in range(draft.sizes.size()):
        draft.n_kept.push_back(n_words)
        n_words += _is_word(draft, k) and not _kind_of(draft, kinds, k - 1) & IS_TRACE
    draft.n_kept.push_back(n_words)
    draft.is_kept.clear()
    for k in range(draft.sizes.size()):
        draft.is_kept.push_back(draft.n_kept[k + draft.sizes[k]] > draft.n_kept[k])
    _compress(draft)
    return n_words > 0


cdef void _strip_functions(DraftC* draft, const vector[int32_t]* categories) noexcept nogil:
    cdef size_t k
    for k in range(draft.sizes.size()):
        if not _is_word(draft, k):
            draft.symbols[k] = categories[0][draft.symbols[k] >> 1]


cdef void _one_top(DraftC* draft, const vector[int32_t]* kinds, int32_t top) noexcept nogil:
    """Drop the wrappers above the first branching, and below it the phrases without a label or labeled TOP."""
    cdef size_t n_wrappers = 0, n = draft.sizes.size(), k
    cdef bint is_kept
    while (
        _kind_of(draft, kinds, n_wrappers) & IS_WRAPPER
        and _is_phrase(draft, n_wrappers)
        and n_wrappers + draft.sizes[n_wrappers] == n
    ):
        n_wrappers += 1
    draft.is_kept.clear()
    for k in range(n):
        is_kept = not _is_phrase(draft, k) or not _kind_of(draft, kinds, k) & IS_TOP
        is_kept = is_kept and k >= n_wrappers
        draft.is_kept.push_back(is_kept)
    _compress(draft)
    draft.symbols.insert(draft.symbols.begin(), top)
    draft.sizes.insert(draft.sizes.begin(), <int32_t>draft.sizes.size() + 1)


cdef void _merge_doubled(DraftC* draft) noexcept nogil:
    """Merge a phrase with its only child if that is a phrase with the same label."""
    cdef size_t k
    cdef bint is_doubled, is_kept
    draft.is_kept.assign(1, True)
    for k in range(1, draft.sizes.size()):
        is_doubled = draft.sizes[k - 1] == draft.sizes[k] + 1 and draft.symbols[k - 1] == draft.symbols[k]
        is_kept = not is_doubled or not _is_phrase(draft, k)
        draft.is_kept.push_back(is_kept)
    _compress(draft)


cdef void _compress(DraftC* draft) noexcept nogil:
    """Drop nodes; their children move up to their parents."""
    cdef size_t k, last = 0
    cdef int32_t n = 0
    draft.n_kept.clear()
    for k in range(draft.sizes.size()):
        draft.n_kept.push_back(n)
        n += draft.is_kept[k]
    draft.n_kept.push_back(n)
    for k in range(draft.sizes.size()):
        if draft.is_kept[k]:
            draft.symbols[last] = draft.symbols[k]
            draft.sizes[last] = draft.n_kept[k + draft.sizes[k]] - draft.n_kept[k]
            last += 1
    draft.symbols.resize(last)
    draft.sizes.resize(last)


cdef void _append(const DraftC* draft, Forest target) noexcept nogil:
    cdef size_t begin = target.nodes.sizes.size()
    target.nodes.symbols.insert(target.nodes.symbols.end(), draft.symbols.begin(), draft.symbols.end())
    target.nodes.sizes.insert(target.nodes.sizes.end(), draft.sizes.begin(), draft.sizes.end())
    target.nodes.parents.resize(target.nodes.sizes.size())
    find_parents(
        target.nodes.sizes.data() + begin, target.nodes.parents.data() + begin, <int32_t>draft.sizes.size()
    )
    target.firsts.push_back(target.nodes.sizes.size())
