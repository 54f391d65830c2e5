"""The construction of packed forests: CKY without scores.

A first pass from small to large spans finds the states that can be made. For a rule A -> B C over the words from i to j
it asks whether a split has both B before it and C behind it: for all splits at once, with a bit for each (Schmid 2004).
A second pass from large to small spans finds what is part of a tree of the whole sentence (the prefilter of Finkel et
al. 2008, section 2), and a third one writes that down. Each takes time in n^2 times rules times n / 64, and the last
two visit the edges of the forest.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libcpp.vector cimport vector

from spacy_incparse.chart.forest cimport EdgeC, Forest, GLUE, GOAL_STATE, IDENTITY, NO_NODE, NodeC, WRAP
from spacy_incparse.chart.rule_tables cimport BinaryC, RuleTables, SpanLimits, SpanStates, cell_of

MAX_EDGES = 50_000_000

cdef enum:
    BASE = 1       # made by a binary or lexical rule
    TOP = 2        # made by these or by a unary rule applied to them
    USED_BASE = 4  # and part of a tree
    USED_TOP = 8
    LEXICAL = 16   # a lexical rule of the word makes it

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


cdef class ForestBuilder:
    """Builds the forests of sentences under one grammar. Not for several threads at a time.

    max_edges: of a forest, each of which takes 12 bytes; a larger one is not built.
    """

    cdef readonly RuleTables tables
    cdef int32_t n_words
    cdef size_t n_blocks                # 64 positions each
    cdef vector[uint8_t] flags          # by cell, then state
    cdef vector[int32_t] candidates     # of the current cell: the states that may be over it
    cdef vector[int32_t] made           # the states with BASE or TOP, ascending, by cell
    cdef vector[size_t] made_ranges     # by cell: the first place in `made`, and one after the last
    # Bit k of row (i, state): there is a top from i to k. Bit k of column (j, state): there is a top from k to j.
    cdef vector[uint64_t] rows
    cdef vector[uint64_t] columns
    cdef vector[int32_t] bases          # the nodes of the current cell, by state
    cdef vector[int32_t] tops           # the nodes, by cell, then state
    cdef vector[int32_t] lexical        # lexical rules, by word
    cdef vector[int32_t] first_lexical
    cdef SpanLimits limits
    cdef SpanStates mask                # None: all states are allowed
    cdef int64_t max_edges
    cdef int64_t n_edges                # of the forest, at most: all lexical rules of its words are counted
    cdef readonly bint is_too_large     # whether the last sentence had more than `max_edges`
    cdef Forest forest

    def __init__(self, RuleTables tables, int64_t max_edges=MAX_EDGES):
        self.tables, self.max_edges = tables, max_edges

    def build(self, words, SpanLimits limits=None, mask=None):
        """Return the forest of a sentence; an empty one if there is no tree or the forest `is_too_large`.

        words: for each word the numbers of its lexical rules, ascending. mask: what pruning leaves, as `SpanStates` or
        bytes (n_spans, n_states of the grammar), 0 for what is pruned; the row of a span is `span_number(start, end)`.
        """
        cdef int32_t n_words = len(words)
        cdef size_t n_cells = cell_of(0, n_words + 1)
        cdef size_t n_states = self.tables.n_states
        n_own = n_states - (self.tables.glue >= 0)
        if limits is not None and (
            limits.n_words != n_words or limits.n_states != n_states or limits.n_unary != self.tables.unary.size()
        ):
            raise ValueError(f"the limits were made for {limits.n_words} words or for other rules")
        self.mask = mask if mask is None or isinstance(mask, SpanStates) else SpanStates.from_mask(mask)
        if mask is not None and (self.mask.n_spans, self.mask.n_states) != (n_cells, n_own):
            raise ValueError(f"the mask has the shape {self.mask.n_spans, self.mask.n_states}, not {n_cells, n_own}")
        self.forest, self.limits, self.n_words = Forest(), limits, n_words
        self.forest.n_words, self.n_edges, self.is_too_large = n_words, 0, False
        self._copy_words(words)
        if n_words:
            self.n_blocks = n_words // 64 + 1
            self.flags.assign(n_cells * n_states, 0)
            self.rows.assign((n_words + 1) * n_states * self.n_blocks, 0)
            self.columns.assign((n_words + 1) * n_states * self.n_blocks, 0)
            self.bases.assign(n_states, NO_NODE)
            self.made.clear()
            self.made_ranges.assign(2 * n_cells, 0)
            self.tops.resize(n_cells * n_states)
            with nogil:
                self._find_all()
                self._mark_all()
            self.is_too_large = self.n_edges > self.max_edges
            if self.n_edges and not self.is_too_large:
                self.forest.edges.reserve(self.n_edges)
                with nogil:
                    self._add_all()
        self.mask = None
        return self.forest

    def _copy_words(self, words):
        self.lexical.clear()
        self.first_lexical.clear()
        for rules in words:
            self.first_lexical.push_back(<int32_t>self.lexical.size())
            for rule in rules:
                self.tables.check_lexical(rule)
                self.lexical.push_back(rule)
        self.first_lexical.push_back(<int32_t>self.lexical.size())

    # First pass: what can be made

    cdef void _find_all(self) noexcept nogil:
        cdef int32_t i, j
        for j in range(1, self.n_words + 1):
            for i in range(j - 1, -1, -1):
                if self.limits is None or self.limits.allows_span(cell_of(i, j)):
                    self._find_candidates(cell_of(i, j))
                    self._find_bases(i, j)
                    self._find_tops(i, j)
                    self._note_made(cell_of(i, j))

    cdef void _find_candidates(self, size_t cell) noexcept nogil:
        """Find the states that may be over a span, at least under a unary rule."""
        cdef int32_t k, state
        self.candidates.clear()
        if self.mask is None:
            for state in range(self.tables.n_states):
                self._add_candidate(cell, state)
            return
        for k in range(self.mask.first[cell], self.mask.first[cell + 1]):
            self._add_candidate(cell, self.mask.states[k])
        if self.tables.glue >= 0:
            self._add_candidate(cell, self.tables.glue)

    cdef void _add_candidate(self, size_t cell, int32_t state) noexcept nogil:
        if self.limits is None or self.limits.allows_base(cell, state):
            self.candidates.push_back(state)

    cdef void _find_bases(self, int32_t i, int32_t j) noexcept nogil:
        cdef uint8_t* flags = &self.flags[cell_of(i, j) * self.tables.n_states]
        cdef size_t k
        if j == i + 1:
            self._find_words(i, flags)
            return
        for k in range(self.candidates.size()):
            if self._is_made(i, j, self.candidates[k]):
                flags[self.candidates[k]] |= BASE

    cdef void _find_words(self, int32_t i, uint8_t* flags) noexcept nogil:
        cdef int32_t k
        cdef size_t c
        for k in range(self.first_lexical[i], self.first_lexical[i + 1]):
            flags[self.tables.lexical_states[self.lexical[k] - self.tables.first_lexical]] |= LEXICAL
        for c in range(self.candidates.size()):
            if flags[self.candidates[c]] & LEXICAL or self.candidates[c] == self.tables.glue:
                flags[self.candidates[c]] |= BASE

    cdef bint _is_made(self, int32_t i, int32_t j, int32_t state) noexcept nogil:
        """Return whether some binary rule makes a state."""
        cdef int32_t k, block
        for k in range(self.tables.first_binary[state], self.tables.first_binary[state + 1]):
            for block in range(i >> 6, (j >> 6) + 1):
                if self._splits(i, j, &self.tables.binary[k], block):
                    return True
        return False

    cdef inline uint64_t _splits(self, int32_t i, int32_t j, const BinaryC* rule, int32_t block) noexcept nogil:
        """Return the splits of a span, from 64 * block on, at which a rule's children meet."""
        cdef size_t row = <size_t>i * self.tables.n_states + rule.left
        cdef size_t column = <size_t>j * self.tables.n_states + rule.right
        return self.rows[row * self.n_blocks + block] & self.columns[column * self.n_blocks + block]

    cdef void _find_tops(self, int32_t i, int32_t j) noexcept nogil:
        cdef size_t cell = cell_of(i, j)
        cdef size_t n_states = self.tables.n_states
        cdef uint8_t* flags = &self.flags[cell * n_states]
        cdef int32_t state
        cdef size_t k
        for k in range(self.candidates.size()):
            state = self.candidates[k]
            if self._may_be_top(cell, state, flags):
                flags[state] |= TOP
                self.rows[(i * n_states + state) * self.n_blocks + (j >> 6)] |= <uint64_t>1 << (j & 63)
                self.columns[(j * n_states + state) * self.n_blocks + (i >> 6)] |= <uint64_t>1 << (i & 63)

    cdef bint _may_be_top(self, size_t cell, int32_t state, const uint8_t* flags) noexcept nogil:
        cdef int32_t k
        if flags[state] & BASE and self._allows_bare(cell, state):
            return True
        for k in range(self.tables.first_unary[state], self.tables.first_unary[state + 1]):
            if flags[self.tables.unary[k].child] & BASE and self._allows_unary(cell, k):
                return True
        return False

    cdef void _note_made(self, size_t cell) noexcept nogil:
        """Keep the list of the states over a span for the other passes."""
        cdef const uint8_t* flags = &self.flags[cell * self.tables.n_states]
        cdef size_t k
        self.made_ranges[2 * cell] = self.made.size()
        for k in range(self.candidates.size()):
            if flags[self.candidates[k]] & (BASE | TOP):
                self.made.push_back(self.candidates[k])
        self.made_ranges[2 * cell + 1] = self.made.size()

    # Second pass: what is part of a tree, and how many edges this has

    cdef void _mark_all(self) noexcept nogil:
        cdef uint8_t* flags = &self.flags[cell_of(0, self.n_words) * self.tables.n_states]
        cdef int32_t i, j
        cdef size_t k
        for k in range(self.tables.roots.size()):
            if flags[self.tables.roots[k].child] & TOP:
                flags[self.tables.roots[k].child] |= USED_TOP
                self.n_edges += 1
        for j in range(self.n_words, 0, -1):
            for i in range(j):
                if 0 < self.n_edges <= self.max_edges:
                    self._mark_used(i, j)

    cdef void _mark_used(self, int32_t i, int32_t j) noexcept nogil:
        cdef size_t cell = cell_of(i, j)
        cdef uint8_t* flags = &self.flags[cell * self.tables.n_states]
        cdef size_t m
        self._mark_bases(cell, flags)
        if j == i + 1:
            self.n_edges += self.first_lexical[j] - self.first_lexical[i] + 1
            return
        for m in range(self.made_ranges[2 * cell], self.made_ranges[2 * cell + 1]):
            if flags[self.made[m]] & USED_BASE:
                self._visit_splits(i, j, self.made[m], False)

    cdef void _mark_bases(self, size_t cell, uint8_t* flags) noexcept nogil:
        cdef int32_t state, k
        cdef size_t m
        for m in range(self.made_ranges[2 * cell], self.made_ranges[2 * cell + 1]):
            state = self.made[m]
            if not flags[state] & USED_TOP:
                continue
            if flags[state] & BASE and self._allows_bare(cell, state):
                flags[state] |= USED_BASE
                self.n_edges += self.tables.has_levels[state]
            for k in range(self.tables.first_unary[state], self.tables.first_unary[state + 1]):
                if flags[self.tables.unary[k].child] & BASE and self._allows_unary(cell, k):
                    flags[self.tables.unary[k].child] |= USED_BASE
                    self.n_edges += 1

    cdef void _visit_splits(self, int32_t i, int32_t j, int32_t state, bint adds) noexcept nogil:
        """Mark what binary rules make a state of, or add their edges."""
        cdef size_t n_states = self.tables.n_states, left, right
        cdef const BinaryC* rule
        cdef uint64_t splits
        cdef int32_t k, block, split
        for k in range(self.tables.first_binary[state], self.tables.first_binary[state + 1]):
            rule = &self.tables.binary[k]
            for block in range(i >> 6, (j >> 6) + 1):
                splits = self._splits(i, j, rule, block)
                while splits:
                    split = block * 64 + pop_lowest(&splits)
                    left, right = cell_of(i, split) * n_states + rule.left, cell_of(split, j) * n_states + rule.right
                    if adds:
                        self.forest.edges.push_back(EdgeC(rule.rule, self.tops[left], self.tops[right]))
                    else:
                        self.n_edges += 1
                        self.flags[left] |= USED_TOP
                        self.flags[right] |= USED_TOP

    # Third pass: the forest

    cdef void _add_all(self) noexcept nogil:
        cdef int32_t i, j
        for j in range(1, self.n_words + 1):
            for i in range(j - 1, -1, -1):
                self._add_nodes(i, j)
        self._add_goal()

    cdef void _add_nodes(self, int32_t i, int32_t j) noexcept nogil:
        cdef size_t cell = cell_of(i, j)
        cdef size_t n_states = self.tables.n_states
        cdef const uint8_t* flags = &self.flags[cell * n_states]
        cdef size_t m, first = self.made_ranges[2 * cell], last = self.made_ranges[2 * cell + 1]
        cdef int32_t state
        for m in range(first, last):
            state = self.made[m]
            if flags[state] & USED_BASE:
                self.bases[state] = self._add_node(state, i, j)
                if j == i + 1:
                    self._add_lexical_edges(i, state)
                else:
                    self._visit_splits(i, j, state, True)
                if not self.tables.has_levels[state]:
                    self.tops[cell * n_states + state] = self.bases[state]
        for m in range(first, last):
            state = self.made[m]
            if flags[state] & USED_TOP and self.tables.has_levels[state]:
                self.tops[cell * n_states + state] = self._add_node(state, i, j)
                self._add_unary_edges(cell, state, flags)

    cdef int32_t _add_node(self, int32_t state, int32_t i, int32_t j) noexcept nogil:
        self.forest.nodes.push_back(NodeC(state, i, j))
        self.forest.first_edges.push_back(<int32_t>self.forest.edges.size())
        return <int32_t>self.forest.nodes.size() - 1

    cdef void _add_lexical_edges(self, int32_t i, int32_t state) noexcept nogil:
        cdef int32_t k
        for k in range(self.first_lexical[i], self.first_lexical[i + 1]):
            if self.tables.lexical_states[self.lexical[k] - self.tables.first_lexical] == state:
                self.forest.edges.push_back(EdgeC(self.lexical[k], NO_NODE, NO_NODE))
        if state == self.tables.glue:
            self.forest.edges.push_back(EdgeC(GLUE, NO_NODE, NO_NODE))

    cdef void _add_unary_edges(self, size_t cell, int32_t state, const uint8_t* flags) noexcept nogil:
        cdef int32_t k
        if flags[state] & BASE and self._allows_bare(cell, state):
            self.forest.edges.push_back(EdgeC(IDENTITY, self.bases[state], NO_NODE))
        for k in range(self.tables.first_unary[state], self.tables.first_unary[state + 1]):
            if flags[self.tables.unary[k].child] & BASE and self._allows_unary(cell, k):
                self.forest.edges.push_back(
                    EdgeC(self.tables.unary[k].rule, self.bases[self.tables.unary[k].child], NO_NODE)
                )

    cdef void _add_goal(self) noexcept nogil:
        cdef size_t row = cell_of(0, self.n_words) * self.tables.n_states, k
        cdef int32_t child
        self._add_node(GOAL_STATE, 0, self.n_words)
        for k in range(self.tables.roots.size()):
            child = self.tables.roots[k].child
            if self.flags[row + child] & TOP:
                self.forest.edges.push_back(EdgeC(self.tables.roots[k].rule, self.tops[row + child], NO_NODE))
        self.forest.first_edges.push_back(<int32_t>self.forest.edges.size())

    # What limits allow

    cdef bint _allows_bare(self, size_t cell, int32_t state) noexcept nogil:
        return self.limits is None or self.limits.allows_bare(cell, state)

    cdef bint _allows_unary(self, size_t cell, int32_t entry) noexcept nogil:
        if self.limits is None:
            return self.tables.unary[entry].rule > WRAP
        return self.limits.allows_unary(cell, entry, &self.tables.unary[entry])
