"""Posteriors of a small probabilistic grammar, by inside and outside probabilities without a forest.

    inside      b(A, i, j) = sum over A -> B C and k of P(A -> B C) t(B, i, k) t(C, k, j)
                t(A, i, j) = P(bare | A) b(A, i, j) + sum over A -> B of P(A -> B) b(B, i, j)
    outside     the derivatives of the sentence's probability, by the same sums from the top down
    posteriors  inside times outside / the sentence's probability

Probabilities are plain doubles, each word's multiplied by a constant. Two thresholds save time: in each span, states
whose inside probability times prior is less than `beam` times the best one's are dropped (Goodman 1997), and what
has a posterior below `floor` passes nothing down.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint64_t

import numpy as np

from spacy_incparse.chart.rule_tables cimport BinaryC, RuleTables
from spacy_incparse.chart.span_limits cimport cell_of


cdef class CoarsePass:
    """Computes the posteriors of states over spans. Not for several threads at a time.

    model: a `pcfg.Pcfg` of a grammar with few states. scale: the factor of each word's probability. beam, floor: see
    above; 0 computes exactly.
    """

    def __init__(self, model, double scale=1.0, double beam=0.0, double floor=0.0):
        grammar = model.grammar
        self.tables = RuleTables(grammar)
        self.scale, self.beam, self.floor = scale, beam, floor
        probabilities = np.exp(model.rules)
        order = np.argsort(grammar.binary[:, 0], kind="stable")
        self.binary = probabilities[: grammar.first_unary][order].tolist()
        self.unary = probabilities[self.tables.unary_rules].tolist() if len(grammar.unary) else []
        self.lexical_rules = probabilities[grammar.first_lexical : grammar.first_root].tolist()
        self.roots = probabilities[grammar.first_root :].tolist()
        self.bare = np.exp(model.bare).tolist()
        self.prior = _priors(grammar).tolist()

    def posteriors(self, words, const double[:, ::1] scores=None):
        """Return the probabilities of bases and of tops: twice float64 (n_spans, n_states); None if there is no tree.

        A base is made by a binary or lexical rule; a top is that with at most one unary rule on it. words: for each
        word the numbers of its lexical rules. scores: log probabilities (n_words, n_lexical) to add to those of lexical
        rules. The row of a span is `forest_builder.span_number`.
        """
        self.n_words = len(words)
        if not self.n_words:
            return None
        self._copy_words(words, scores)
        self._allocate()
        shape = cell_of(0, self.n_words + 1), self.tables.n_states
        base_table, top_table = np.zeros(shape), np.zeros(shape)
        cdef double[:, ::1] bases = base_table, tops = top_table
        with nogil:
            self._run_inside()
            self.total = self._find_total(&self.outside[0])
            if 0 < self.total < INFINITY:
                self._run_outside(&bases[0, 0], &tops[0, 0])
        return (base_table, top_table) if 0 < self.total < INFINITY else None

    def _copy_words(self, words, const double[:, ::1] scores):
        cdef Py_ssize_t n_lexical = self.lexical_rules.size(), rule
        table = np.zeros((self.n_words, n_lexical))
        added = np.ones(n_lexical)
        for k, rules in enumerate(words):
            if scores is not None:
                added = np.exp(np.asarray(scores[k]))
            for number in rules:
                rule = number - self.tables.first_lexical
                table[k, rule] = self.scale * self.lexical_rules[rule] * added[rule]
        self.words = table.ravel().tolist()

    def _allocate(self):
        cdef size_t n_places = (self.n_words + 1) * <size_t>self.tables.n_states
        self.n_blocks = self.n_words // 64 + 1
        self.inside.assign(n_places * (self.n_words + 1), 0)
        self.outside.assign(n_places * (self.n_words + 1), 0)
        self.splits.assign(n_places * self.n_blocks, 0)
        self.bases.assign(cell_of(0, self.n_words + 1) * self.tables.n_states, 0)
        self.base_outside.assign(self.tables.n_states, 0)

    cdef inline size_t _place(self, int32_t p, int32_t state) noexcept nogil:
        """Return the place of the values of a state over the spans from or to a position."""
        return (<size_t>p * self.tables.n_states + state) * (self.n_words + 1)

    # Inside

    cdef void _run_inside(self) noexcept nogil:
        cdef int32_t i, j
        cdef double* bases
        for j in range(1, self.n_words + 1):
            for i in range(j - 1, -1, -1):
                bases = &self.bases[cell_of(i, j) * self.tables.n_states]
                self._find_bases(i, j, bases)
                self._find_tops(i, j, bases)

    cdef void _find_bases(self, int32_t i, int32_t j, double* bases) noexcept nogil:
        cdef const BinaryC* rule
        cdef int32_t state, k
        cdef size_t n_lexical = self.lexical_rules.size()
        if j == i + 1:
            for k in range(<int32_t>n_lexical):
                bases[self.tables.lexical_states[k]] += self.words[i * n_lexical + k]
            return
        for state in range(self.tables.n_states):
            for k in range(self.tables.first_binary[state], self.tables.first_binary[state + 1]):
                rule = &self.tables.binary[k]
                bases[state] += self.binary[k] * self._sum_splits(i, j, rule.left, rule.right)

    cdef double _sum_splits(self, int32_t i, int32_t j, int32_t left, int32_t right) noexcept nogil:
        """Return the sum over k of t(left, i, k) t(right, k, j)."""
        cdef const double* row
        cdef const double* column
        cdef double even = 0, odd = 0
        cdef int32_t k
        if not self._has_split(i, j, <size_t>i * self.tables.n_states + left, <size_t>j * self.tables.n_states + right):
            return 0
        row, column = &self.inside[self._place(i, left)], &self.inside[self._place(j, right)]
        for k in range(i + 1, j - 1, 2):  # two sums, because each addition waits for the one before
            even += row[k] * column[k]
            odd += row[k + 1] * column[k + 1]
        if (j - i) % 2 == 0:
            even += row[j - 1] * column[j - 1]
        return even + odd

    cdef bint _has_split(self, int32_t i, int32_t j, size_t row, size_t column) noexcept nogil:
        """Return whether some position between i and j is in both sets."""
        cdef size_t block, first = (i + 1) >> 6, last = (j - 1) >> 6
        cdef uint64_t both
        for block in range(first, last + 1):
            both = self.splits[row * self.n_blocks + block] & self.splits[column * self.n_blocks + block]
            if block == first:
                both &= <uint64_t>-1 << ((i + 1) & 63)
            if block == last:
                both &= <uint64_t>-1 >> (63 - ((j - 1) & 63))
            if both:
                return True
        return False

    cdef void _find_tops(self, int32_t i, int32_t j, const double* bases) noexcept nogil:
        cdef int32_t state, k
        cdef double value, best = 0
        cdef size_t row = self._place(i, 0) + j, step = self.n_words + 1
        for state in range(self.tables.n_states):
            value = bases[state]
            if self.tables.has_levels[state]:
                value *= self.bare[state]
                for k in range(self.tables.first_unary[state], self.tables.first_unary[state + 1]):
                    value += self.unary[k] * bases[self.tables.unary[k].child]
            self.inside[row + state * step] = value
            best = max(best, value * self.prior[state])
        for state in range(self.tables.n_states):
            value = self.inside[row + state * step]
            self._set_top(i, j, state, value if value * self.prior[state] >= self.beam * best else 0)

    cdef void _set_top(self, int32_t i, int32_t j, int32_t state, double value) noexcept nogil:
        cdef size_t row = <size_t>i * self.tables.n_states + state, column = <size_t>j * self.tables.n_states + state
        self.inside[row * (self.n_words + 1) + j] = self.inside[column * (self.n_words + 1) + i] = value
        if value > 0:
            self.splits[row * self.n_blocks + (j >> 6)] |= <uint64_t>1 << (j & 63)
            self.splits[column * self.n_blocks + (i >> 6)] |= <uint64_t>1 << (i & 63)

    cdef double _find_total(self, double* outside) noexcept nogil:
        """Set the outside probabilities of what may be under the root. Return the probability of the sentence."""
        cdef size_t k, place
        cdef double total = 0
        for k in range(self.roots.size()):
            place = self._place(0, self.tables.roots[k].child) + self.n_words
            outside[place] += self.roots[k]
            total += self.roots[k] * self.inside[place]
        return total

    # Outside

    cdef void _run_outside(self, double* base_posteriors, double* top_posteriors) noexcept nogil:
        cdef int32_t i, j, state
        cdef size_t row, place
        cdef double* outside = &self.base_outside[0]
        for j in range(self.n_words, 0, -1):
            for i in range(j):
                self._set_bases_outside(i, j)
                row = cell_of(i, j) * self.tables.n_states
                for state in range(self.tables.n_states):
                    place = self._place(i, state) + j
                    top_posteriors[row + state] = self.inside[place] * self.outside[place] / self.total
                    base_posteriors[row + state] = self.bases[row + state] * outside[state] / self.total
                    if j > i + 1 and base_posteriors[row + state] > self.floor:
                        self._pass_down(i, j, state, outside[state])

    cdef void _set_bases_outside(self, int32_t i, int32_t j) noexcept nogil:
        cdef int32_t state, k
        cdef double value
        self.base_outside.assign(self.tables.n_states, 0)
        for state in range(self.tables.n_states):
            # As the left child of a rule its place is (i, j), as the right one it is (j, i).
            self.outside[self._place(i, state) + j] += self.outside[self._place(j, state) + i]
            value = self.outside[self._place(i, state) + j] if self.inside[self._place(i, state) + j] > 0 else 0
            if value == 0:
                continue
            self.base_outside[state] += value * self.bare[state] if self.tables.has_levels[state] else value
            for k in range(self.tables.first_unary[state], self.tables.first_unary[state + 1]):
                self.base_outside[self.tables.unary[k].child] += value * self.unary[k]

    cdef void _pass_down(self, int32_t i, int32_t j, int32_t state, double value) noexcept nogil:
        """Add to the outside probabilities of the children what a base with this outside probability passes on."""
        cdef const BinaryC* rule
        cdef const double* left
        cdef const double* right
        cdef double* left_outside
        cdef double* right_outside
        cdef double factor
        cdef int32_t k, split
        cdef size_t n = self.tables.n_states
        for k in range(self.tables.first_binary[state], self.tables.first_binary[state + 1]):
            rule = &self.tables.binary[k]
            if not self._has_split(i, j, i * n + rule.left, j * n + rule.right):
                continue
            factor = value * self.binary[k]
            left, right = &self.inside[self._place(i, rule.left)], &self.inside[self._place(j, rule.right)]
            left_outside = &self.outside[self._place(i, rule.left)]
            right_outside = &self.outside[self._place(j, rule.right)]
            for split in range(i + 1, j):
                left_outside[split] += factor * right[split]
                right_outside[split] += factor * left[split]


def _priors(grammar):
    """Return how often each state is the child of a binary or root rule, relative to all of them."""
    binary, roots = grammar.counts[: grammar.first_unary], grammar.counts[grammar.first_root :]
    counts = np.bincount(grammar.roots, roots, len(grammar.states))
    for child in (1, 2):
        counts += np.bincount(grammar.binary[:, child], binary, len(grammar.states))
    return counts / counts.sum()
