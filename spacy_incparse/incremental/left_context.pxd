# Field values of a context, in the order of linear/templates.py (a test compares both).
from libc.stdint cimport int32_t, uint32_t, uint64_t

from spacy_incparse.linear.hashing cimport mix64
from spacy_incparse.incremental.state cimport FrameC, SentenceC, SymbolsC

cdef enum:
    L10, L20, L30, L40, L01, L02, L03, L11, L12, L21, FIRST, N_CHILDREN
    CL, CLP, CC, CCP, S1, S1P, G, GP, CONJ, AFTERP
    CLK, CLB, CCK, CCB, S1K, S1B, GK, GB
    FW, FT, BW, BT, LEN, RULE, SHAPE, PAIR, PAIRF, PAIRL
    N_STRUCTURE_FIELDS

cdef enum:
    W_2, W_1, LK, W1, W2, T_3, T_2, T_1, LKP, T1, T2, T3, C0, C_1, C1, QUESTION, PUNCT1, T0, TR
    K0, K_1, K1, B0, B_1, B1
    N_POSITION_FIELDS


# A node's left context: the frame that it is built in and the three above.
cdef struct ContextC:
    const FrameC* parent
    const FrameC* parent2
    const FrameC* parent3
    const FrameC* parent4


cdef inline ContextC context_of(const FrameC* frame, const FrameC* arena) noexcept nogil:
    """Return the context below a frame that need not be in the arena; its parents are."""
    cdef ContextC context
    context.parent = frame
    context.parent2 = &arena[frame.parent]
    context.parent3 = &arena[context.parent2.parent]
    context.parent4 = &arena[context.parent3.parent]
    return context


cdef inline const FrameC* frame_above(const ContextC* site, const FrameC* chain, int depth, int levels) noexcept nogil:
    """The frame `levels` above chain[depth], where the chain hangs on a site: in the chain, at the site or above it."""
    cdef int k = depth - levels
    if k >= 0:
        return &chain[k]
    if k == -1:
        return site.parent
    if k == -2:
        return site.parent2
    return site.parent3 if k == -3 else site.parent4


cdef inline ContextC chain_context(const ContextC* site, const FrameC* chain, int depth) noexcept nogil:
    """Return the context below chain[depth]."""
    cdef ContextC context
    context.parent = &chain[depth]
    context.parent2 = frame_above(site, chain, depth, 1)
    context.parent3 = frame_above(site, chain, depth, 2)
    context.parent4 = frame_above(site, chain, depth, 3)
    return context


cdef inline uint64_t chain_key(
    const ContextC* site, int32_t trie_node, int depth, bint reads_far
) noexcept nogil:
    """Return a hash of all that node_values reads below a site, from a trie node at this depth of a chain on.

    The node stands for the chain's labels above it, and none of the chain's frames has a child yet. So the deeper the
    node, the less of the site is left to read. reads_far: whether L12 and L40 count.
    """
    cdef const FrameC* p = site.parent
    cdef uint64_t h = mix64(
        <uint64_t><uint32_t>trie_node | <uint64_t><uint32_t>(p.head if p.head >= 0 else p.outer_head) << 32
    )
    if depth == 0:
        h = mix64(
            h ^ (<uint64_t>p.label | <uint64_t>p.child1 << 16 | <uint64_t>site.parent2.label << 32
                 | <uint64_t>site.parent2.child1 << 48)
        )
        h ^= <uint64_t><uint32_t>p.head
        if reads_far:
            h ^= <uint64_t>p.child2 << 32 | <uint64_t>site.parent3.label << 48
        return mix64(h)
    if depth == 1:
        h ^= <uint64_t>p.label | <uint64_t>p.child1 << 16
        return mix64(h ^ <uint64_t>site.parent2.label << 32 if reads_far else h)
    return mix64(h ^ p.label) if depth == 2 and reads_far else h


cdef inline void position_values(
    const SentenceC* s, const SymbolsC* symbols, int i, int alternative, uint32_t* v
) noexcept nogil:
    """Fill in the fields of the position before word i under one of its tags; i = n stands for the sentence's end."""
    v[W_2], v[W_1], v[LK], v[W1] = s.words[i - 2], s.words[i - 1], s.words[i], s.words[i + 1]
    v[W2] = s.words[i + 2] if i + 2 < s.n else s.words[s.n]
    v[T_3], v[T_2], v[T_1], v[T0] = s.tags[i - 3], s.tags[i - 2], s.tags[i - 1], s.tags[i]
    v[LKP], v[TR] = s.alternative_tags[alternative], s.tag_ranks[alternative]
    v[T1] = s.tags[i + 1]
    v[T2] = s.tags[i + 2] if i + 2 < s.n else s.tags[s.n]
    v[T3] = s.tags[i + 3] if i + 3 < s.n else s.tags[s.n]
    v[C0], v[C_1], v[C1] = s.classes[i], s.classes[i - 1], s.classes[i + 1]
    v[QUESTION] = s.ends_in_question
    v[PUNCT1] = 0
    if i < s.n and (
        symbols.is_punctuation[s.tags[i]] or symbols.is_conjunction[2 + symbols.n_nonterminals + s.tags[i]]
    ):
        v[PUNCT1] = 1 + s.tags[i + 1]
    v[K0] = v[K_1] = v[K1] = v[B0] = v[B_1] = v[B1] = 0
    if s.clusters != NULL:
        v[K0], v[K_1], v[K1] = s.clusters[i], s.clusters[i - 1], s.clusters[i + 1]
        v[B0], v[B_1], v[B1] = s.groups[i], s.groups[i - 1], s.groups[i + 1]


cdef inline void head_values(const SentenceC* s, int head, uint32_t* word, uint32_t* tag) noexcept nogil:
    word[0] = s.words[head] if head >= 0 else 0
    tag[0] = 1 + s.tags[head] if head >= 0 else 0


cdef inline void head_clusters(const SentenceC* s, int head, uint32_t* cluster, uint32_t* group) noexcept nogil:
    cluster[0] = s.clusters[head] if head >= 0 else 0
    group[0] = s.groups[head] if head >= 0 else 0


cdef inline void node_values(
    const ContextC* c, const SentenceC* s, const SymbolsC* symbols, int i, uint32_t* v
) noexcept nogil:
    """Fill in the fields that all templates may read."""
    cdef const FrameC* p = c.parent
    v[L10], v[L20], v[L30], v[L40] = p.label, c.parent2.label, c.parent3.label, c.parent4.label
    v[L01], v[L02], v[L03] = p.child1, p.child2, p.child3
    v[L11], v[L12], v[L21] = c.parent2.child1, c.parent2.child2, c.parent3.child1
    v[FIRST], v[N_CHILDREN] = p.first_child, p.n_children
    head_values(s, p.head, &v[CL], &v[CLP])
    head_values(s, p.head if p.head >= 0 else p.outer_head, &v[CC], &v[CCP])
    head_values(s, p.head1, &v[S1], &v[S1P])
    head_values(s, c.parent2.head, &v[G], &v[GP])
    v[CLK] = v[CLB] = v[CCK] = v[CCB] = v[S1K] = v[S1B] = v[GK] = v[GB] = 0
    if s.clusters != NULL:
        head_clusters(s, p.head, &v[CLK], &v[CLB])
        head_clusters(s, p.head if p.head >= 0 else p.outer_head, &v[CCK], &v[CCB])
        head_clusters(s, p.head1, &v[S1K], &v[S1B])
        head_clusters(s, c.parent2.head, &v[GK], &v[GB])
    v[CONJ] = 0
    if symbols.is_conjunction[p.child1]:
        v[CONJ] = 1 + p.child2 * <uint32_t>1024 + s.tags[p.start2]
    v[AFTERP] = 0
    if p.after_punctuation:
        v[AFTERP] = 1 + symbols.is_punctuation[s.tags[i]]


cdef inline void head_words(const ContextC* c, const uint32_t* words, uint32_t* v) noexcept nogil:
    """Fill in the fields of node_values that are words anew, for other numbers of the words."""
    cdef const FrameC* p = c.parent
    cdef int outer = p.head if p.head >= 0 else p.outer_head
    v[CL] = words[p.head] if p.head >= 0 else 0
    v[CC] = words[outer] if outer >= 0 else 0
    v[S1] = words[p.head1] if p.head1 >= 0 else 0
    v[G] = words[c.parent2.head] if c.parent2.head >= 0 else 0


cdef inline uint64_t node_key(const ContextC* c) noexcept nogil:
    """Return a hash of all that node_values reads of the frames."""
    cdef uint64_t h = mix64(
        c.parent.signature
        ^ (<uint64_t>c.parent2.label | <uint64_t>c.parent2.child1 << 16 | <uint64_t>c.parent2.child2 << 32
           | <uint64_t>c.parent3.label << 48)
    )
    return mix64(
        h ^ (<uint64_t><uint32_t>c.parent2.head | <uint64_t>c.parent3.child1 << 32 | <uint64_t>c.parent4.label << 48)
    )


cdef inline uint32_t length_bucket(int length) noexcept nogil:
    if length < 6:
        return length
    if length < 16:
        return 6 + (length - 6) // 3
    return 10 + (length >= 24) + (length >= 40)


cdef inline void span_values(
    const ContextC* c, const SentenceC* s, const SymbolsC* symbols, int i, uint32_t* v
) noexcept nogil:
    """Fill in the fields of closing templates: the parent has the words from its start to i."""
    cdef const FrameC* p = c.parent
    cdef const FrameC* q = c.parent2
    cdef int k
    cdef uint64_t shape = 0
    v[FW], v[FT] = s.words[p.start], s.tags[p.start]
    v[BW], v[BT] = s.words[p.start - 1], s.tags[p.start - 1]
    v[LEN] = length_bucket(i - p.start)
    v[RULE] = p.rule
    for k in range(p.start, min(i, p.start + 6)):
        shape = mix64(shape << 16 ^ (1 + s.tags[k]))
    v[SHAPE] = <uint32_t>shape + v[LEN]
    v[PAIR] = v[PAIRF] = v[PAIRL] = 0
    if symbols.is_conjunction[q.child1]:
        # The conjunct before ends where the conjunction starts.
        k = q.start1 - 1
        v[PAIR] = 1 + <uint32_t>(q.child2 == p.label) + 2 * (length_bucket(q.start1 - q.start2) + 16 * v[LEN])
        v[PAIRF] = 1 + <uint32_t>(q.child2 == p.label) + 2 * (s.tags[q.start2] + 1024 * <uint32_t>s.tags[p.start])
        v[PAIRL] = 1 + <uint32_t>(q.child2 == p.label) + 2 * (s.tags[k] + 1024 * <uint32_t>s.tags[i - 1])


cdef inline uint64_t span_key(const ContextC* c, uint64_t key, const SymbolsC* symbols) noexcept nogil:
    """Return a hash of all that node_values and span_values read of the frames, made from node_key's."""
    cdef uint64_t h = mix64(key ^ (<uint64_t><uint32_t>c.parent.start | <uint64_t>c.parent.rule << 32))
    if symbols.is_conjunction[c.parent2.child1]:
        h = mix64(h ^ (<uint64_t><uint32_t>c.parent2.start1 | <uint64_t><uint32_t>c.parent2.start2 << 32))
    return h
