"""The construction of packed forests: CKY without scores.

A first pass from small to large spans finds the states that can be made. For a rule A -> B C over the words from i to j
it asks whether a split has both B before it and C behind it: for all splits at once, with a bit for each (Schmid 2004).
A second pass from large to small spans finds what is part of a tree of the whole sentence (the prefilter of Finkel et
al. 2008, section 2), and a third one writes that down. Each takes time in n^2 times rules times n / 64, and the last
two visit the edges of the forest.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libcpp.vector cimport vector

import numpy as np

from spacy_incparse.chart.forest cimport EdgeC, Forest, GLUE, GLUE_ROOT, GOAL_STATE, IDENTITY, NO_NODE, NodeC, WRAP

from spacy_incparse.trees.labels import ROOT

MAX_EDGES = 50_000_000

cdef enum:
    FORBIDDEN_BIT = 63  # of a state or a rule that makes a forbidden phrase
    FREE = -1           # spans without limits of their own, and those that cross a required bracket
    BLOCKED = -2

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


cdef struct BinaryC:
    int32_t rule
    int32_t left
    int32_t right


cdef struct UnaryC:
    int32_t rule
    int32_t child


cdef class RuleTables:
    """The rules of a grammar, by parent.

    is_relaxed: whether there also is a state "glue" for any sequence of neighbours: a word, a phrase, or one of both
    and a shorter sequence. It may be under the root; where a bracket is required, it may be under any phrase. With it
    every sentence has a tree.
    """

    cdef readonly int32_t n_states
    cdef readonly int32_t glue               # the state of neighbours under no phrase; -1: there is none
    cdef readonly int32_t first_lexical      # the number of the first lexical rule
    cdef vector[BinaryC] binary
    cdef vector[int32_t] first_binary        # by parent, and the end of all
    cdef vector[UnaryC] unary
    cdef vector[int32_t] first_unary
    cdef vector[int32_t] lexical_states      # of lexical rules
    cdef vector[UnaryC] roots
    cdef vector[uint8_t] has_levels          # by state: whether a unary rule has it as parent or child

    def __init__(self, grammar, bint is_relaxed=False):
        cdef int32_t parent, rule, left, right, child
        binary = [(parent, rule, left, right) for rule, (parent, left, right) in enumerate(grammar.binary.tolist())]
        unary = [(*row, grammar.first_unary + k) for k, row in enumerate(grammar.unary.tolist())]
        self.n_states, self.glue = len(grammar.states), -1
        self.first_lexical = grammar.first_lexical
        self.lexical_states = grammar.lexical.tolist()
        self.has_levels.assign(self.n_states + is_relaxed, 0)
        for k, state in enumerate(grammar.roots.tolist()):
            self.roots.push_back(UnaryC(grammar.first_root + k, state))
        if is_relaxed:
            glue = self.glue = self.n_states
            self.n_states += 1
            named = enumerate(zip(grammar.states, grammar.parts, strict=True))
            whole = [state for state, (name, parts) in named if not parts.is_active and name != ROOT]
            binary += [(glue, GLUE, state, glue) for state in whole]
            unary += [(glue, state, GLUE) for state in whole]
            unary += [(state, glue, WRAP - state) for state in whole if grammar.state_labels[state]]
            self.roots.push_back(UnaryC(GLUE_ROOT, glue))
        n_binary, n_unary = [0] * (self.n_states + 1), [0] * (self.n_states + 1)
        for parent, rule, left, right in sorted(binary, key=lambda row: row[0]):
            n_binary[parent + 1] += 1
            self.binary.push_back(BinaryC(rule, left, right))
        for parent, child, rule in sorted(unary, key=lambda row: row[0]):
            n_unary[parent + 1] += 1
            self.unary.push_back(UnaryC(rule, child))
            self.has_levels[parent] = self.has_levels[child] = 1
        self.first_binary = np.cumsum(n_binary).tolist()
        self.first_unary = np.cumsum(n_unary).tolist()


cdef class SpanStates:
    """For each span the states that it may have, ascending; spans are numbered by `sentence.span_number`.

    first, states: the states of span s are states[first[s]:first[s + 1]]. n_states: the number that the grammar has.
    """

    def __init__(self, first, states, int32_t n_states):
        self.first, self.states, self.n_states = first, states, n_states

    @staticmethod
    def from_mask(const uint8_t[:, ::1] mask):
        """Return what a mask leaves: bytes (n_spans, n_states), 0 for what is pruned."""
        cdef SpanStates found = SpanStates([0], [], <int32_t>mask.shape[1])
        cdef Py_ssize_t span
        cdef int32_t state
        for span in range(mask.shape[0]):
            for state in range(found.n_states):
                if mask[span, state]:
                    found.states.push_back(state)
            found.first.push_back(<int32_t>found.states.size())
        return found

    def to_mask(self):
        """Return the mask as bytes: uint8 (n_spans, n_states)."""
        mask = np.zeros((self.n_spans, self.n_states), np.uint8)
        mask[np.repeat(np.arange(self.n_spans), np.diff(self.first)), np.array(self.states, np.int32)] = 1
        return mask

    @property
    def n_spans(self):
        """The number of spans of the sentence."""
        return <Py_ssize_t>self.first.size() - 1


cdef class SpanLimits:
    """The limits that constraints set on a sentence of `n_words` words.

    A span that is limited has a row of `lacks` and one of `gives`, one bit for each required label and the last one for
    forbidden ones: the labels that a state does not stand for, and those that a unary rule adds. In a binary tree a
    bracket is a node if no node crosses it. So a required bracket excludes all spans that cross it, and over its own
    words what lacks its label. Trees under these limits are exactly those that satisfy the constraints.

    constraints: may be satisfied by some tree, and say nothing about the root.
    """

    cdef readonly int32_t n_words
    cdef vector[int32_t] rows           # by cell: FREE, BLOCKED or the number of a row
    cdef vector[uint64_t] lacks         # rows of one entry per state
    cdef vector[uint64_t] gives         # rows of one entry per unary rule of the tables
    cdef size_t n_states
    cdef size_t n_unary

    def __init__(self, grammar, RuleTables tables, constraints, int32_t n_words):
        cdef int32_t start, end, i, j
        self.n_words, self.n_states, self.n_unary = n_words, tables.n_states, tables.unary.size()
        self.rows.assign(cell_of(0, n_words + 1), FREE)
        by_span = {}
        for constraint in constraints:
            by_span.setdefault((constraint.start, constraint.end), []).append(constraint)
            if constraint.is_required:
                start, end = constraint.start, constraint.end
                for j in range(1, n_words + 1):
                    for i in range(j):
                        if i < start < j < end or start < i < end < j:
                            self.rows[cell_of(i, j)] = BLOCKED
        state_labels = [_names(grammar, grammar.state_labels[k]) for k in range(len(grammar.states))]
        state_labels += [set()] * (tables.n_states - len(state_labels))
        unary_rules = [tables.unary[k].rule for k in range(tables.unary.size())]
        unary_labels = [_names(grammar, grammar.labels_made(rule)) for rule in unary_rules]
        for number, ((start, end), here) in enumerate(sorted(by_span.items(), key=lambda item: item[0])):
            if self.rows[cell_of(start, end)] == FREE:
                self.rows[cell_of(start, end)] = number
            required = list(dict.fromkeys([constraint.label for constraint in here if constraint.is_required]))
            forbidden = [constraint.label for constraint in here if not constraint.is_required]
            for labels in state_labels:
                self.lacks.push_back(_bits(labels, required, forbidden, False))
            for labels, rule in zip(unary_labels, unary_rules, strict=True):
                excluded = forbidden if required or rule > WRAP else [None]  # see allows_unary
                self.gives.push_back(_bits(labels, required, excluded, True))

    cdef bint allows_base(self, size_t cell, int32_t state) noexcept nogil:
        """Return whether a binary or lexical rule may make a state over a span."""
        return self.rows[cell] < 0 or not self.lacks[self.rows[cell] * self.n_states + state] >> FORBIDDEN_BIT

    cdef bint allows_bare(self, size_t cell, int32_t state) noexcept nogil:
        """Return whether no unary rule needs to be applied to a state."""
        return self.rows[cell] < 0 or self.lacks[self.rows[cell] * self.n_states + state] == 0

    cdef bint allows_unary(self, size_t cell, size_t entry, const UnaryC* rule) noexcept nogil:
        """Return whether a unary rule may be applied to what a binary or lexical rule has made."""
        cdef uint64_t gives
        if self.rows[cell] < 0:
            return rule.rule > WRAP  # without a required bracket there is no reason for a phrase over neighbours
        gives = self.gives[self.rows[cell] * self.n_unary + entry]
        return not gives >> FORBIDDEN_BIT and not self.lacks[self.rows[cell] * self.n_states + rule.child] & ~gives


def _names(grammar, labels):
    """Return the names of phrases without the root's, of which constraints say nothing."""
    return {grammar.labels[label] for label in labels} - {ROOT}


def _bits(labels, required, forbidden, bint gives):
    """Return a bit for each required label that is among the labels, or with `gives` false, is not."""
    cdef uint64_t bits = 0
    for k, wanted in enumerate(required):
        if (bool(labels) if wanted is None else wanted in labels) == gives:
            bits |= <uint64_t>1 << <int>k
    for unwanted in forbidden:
        if labels if unwanted is None else unwanted in labels:
            bits |= <uint64_t>1 << FORBIDDEN_BIT
    return bits


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
    cdef Forest forest

    def __init__(self, RuleTables tables, int64_t max_edges=MAX_EDGES):
        self.tables, self.max_edges = tables, max_edges

    def build(self, words, SpanLimits limits=None, mask=None):
        """Return the forest of a sentence; an empty one if there is no tree or it has too many edges.

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
        self.forest.n_words, self.n_edges = n_words, 0
        self.lexical.clear()
        self.first_lexical.assign(1, 0)
        last = self.tables.first_lexical + <int32_t>self.tables.lexical_states.size() - 1
        for rules in words:
            for rule in rules:
                if not self.tables.first_lexical <= rule <= last:
                    raise ValueError(
                        f"{rule} is not the number of a lexical rule; these are {self.tables.first_lexical} to {last}"
                    )
                self.lexical.push_back(rule)
            self.first_lexical.push_back(<int32_t>self.lexical.size())
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
            if 0 < self.n_edges <= self.max_edges:
                self.forest.edges.reserve(self.n_edges)
                with nogil:
                    self._add_all()
        self.mask = None
        return self.forest

    # First pass: what can be made

    cdef void _find_all(self) noexcept nogil:
        cdef int32_t i, j
        cdef size_t cell, k
        for j in range(1, self.n_words + 1):
            for i in range(j - 1, -1, -1):
                cell = cell_of(i, j)
                if self.limits is not None and self.limits.rows[cell] == BLOCKED:
                    continue
                self._find_candidates(cell)
                self._find_bases(i, j)
                self._find_tops(i, j)
                self.made_ranges[2 * cell] = self.made.size()
                for k in range(self.candidates.size()):
                    if self.flags[cell * self.tables.n_states + self.candidates[k]] & (BASE | TOP):
                        self.made.push_back(self.candidates[k])
                self.made_ranges[2 * cell + 1] = self.made.size()

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
        cdef int32_t k, state
        cdef size_t c
        if j == i + 1:
            for k in range(self.first_lexical[i], self.first_lexical[j]):
                flags[self.tables.lexical_states[self.lexical[k] - self.tables.first_lexical]] |= LEXICAL
        for c in range(self.candidates.size()):
            state = self.candidates[c]
            if flags[state] & LEXICAL or (state == self.tables.glue if j == i + 1 else self._is_made(i, j, state)):
                flags[state] |= BASE

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
        cdef int32_t state, k
        cdef size_t m, first = self.made_ranges[2 * cell], last = self.made_ranges[2 * cell + 1]
        for m in range(first, last):
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
        if j == i + 1:
            self.n_edges += self.first_lexical[j] - self.first_lexical[i] + 1
            return
        for m in range(first, last):
            if flags[self.made[m]] & USED_BASE:
                self._visit_splits(i, j, self.made[m], False)

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
        cdef int32_t i, j, child
        cdef size_t row = cell_of(0, self.n_words) * self.tables.n_states, k
        for j in range(1, self.n_words + 1):
            for i in range(j - 1, -1, -1):
                self._add_nodes(i, j)
        self._add_node(GOAL_STATE, 0, self.n_words)
        for k in range(self.tables.roots.size()):
            child = self.tables.roots[k].child
            if self.flags[row + child] & TOP:
                self.forest.edges.push_back(EdgeC(self.tables.roots[k].rule, self.tops[row + child], NO_NODE))
        self.forest.first_edges.push_back(<int32_t>self.forest.edges.size())

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

    # What limits allow

    cdef bint _allows_bare(self, size_t cell, int32_t state) noexcept nogil:
        return self.limits is None or self.limits.allows_bare(cell, state)

    cdef bint _allows_unary(self, size_t cell, int32_t entry) noexcept nogil:
        if self.limits is None:
            return self.tables.unary[entry].rule > WRAP
        return self.limits.allows_unary(cell, entry, &self.tables.unary[entry])
