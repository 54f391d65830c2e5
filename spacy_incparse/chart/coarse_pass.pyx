"""Posteriors of a small probabilistic grammar, by inside and outside probabilities without a forest.

    inside      b(A, i, j) = sum over A -> B C and k of P(A -> B C) t(B, i, k) t(C, k, j)
                t(A, i, j) = P(bare | A) b(A, i, j) + sum over A -> B of P(A -> B) b(B, i, j)
    outside     the derivatives of the sentence's probability, by the same sums from the top down
    posteriors  inside times outside / the sentence's probability

Probabilities are plain doubles, each word's multiplied by a constant. Two thresholds save time: in each span, states
whose inside probability times prior is less than `beam` times the best one's are dropped (Goodman 1997), and what
has a posterior below `floor` passes nothing down.

A sentence may also be a sequence of pieces, each with the probability of what it is times a small one, `PIECE`. So
there are posteriors for sentences that the grammar has no tree for.
"""

from libc.math cimport INFINITY, exp
from libc.stdint cimport int32_t, uint64_t

import numpy as np

from spacy_incparse.chart.bits cimport pop_lowest
from spacy_incparse.chart.rule_tables cimport BinaryC, RuleTables
from spacy_incparse.chart.span_limits cimport cell_of

from spacy_incparse.chart.rule_scores import GLUE_SCORE
from spacy_incparse.chart.rule_tables import whole_states


cdef double PIECE = exp(GLUE_SCORE)


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
        self.whole = whole_states(grammar)
        self._pair_rules(grammar, probabilities)

    def _pair_rules(self, grammar, probabilities):
        """Sort the binary rules by both children."""
        cdef int32_t left, right
        cdef size_t n = self.tables.n_states
        self.n_state_blocks = n // 64 + 1
        self.partners.assign(n * self.n_state_blocks, 0)
        pairs = grammar.binary[:, 1] * <Py_ssize_t>n + grammar.binary[:, 2]
        for rule in np.argsort(pairs, kind="stable").tolist():
            parent, left, right = grammar.binary[rule]
            self.made.push_back(MadeC(parent, probabilities[rule]))
            self.partners[left * self.n_state_blocks + (right >> 6)] |= <uint64_t>1 << (right & 63)
        self.first_made = np.searchsorted(np.sort(pairs), np.arange(n * n + 1)).tolist()

    def posteriors(self, words, const double[:, ::1] scores=None):
        """Return the probabilities of bases and of tops: twice float64 (n_spans, n_states).

        A base is made by a binary or lexical rule; a top is that with at most one unary rule on it. words: for each
        word the numbers of its lexical rules. scores: log probabilities (n_words, n_lexical) to add to those of lexical
        rules. The row of a span is `span_numbers.span_number`. The result is None if the sentence has no words, or if
        its probability is too small or too large for a double.
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
            self.total = self._find_total()
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
                self.tables.check_lexical(number)
                rule = number - self.tables.first_lexical
                table[k, rule] = self.scale * self.lexical_rules[rule] * added[rule]
        self.words = table.ravel().tolist()

    def _allocate(self):
        cdef size_t n_places = (self.n_words + 1) * <size_t>self.tables.n_states
        cdef size_t n_cells = cell_of(0, self.n_words + 1)
        self.n_blocks = self.n_words // 64 + 1
        self.inside.assign(n_places * (self.n_words + 1), 0)
        self.outside.assign(n_places * (self.n_words + 1), 0)
        self.splits.assign(n_places * self.n_blocks, 0)
        self.bases.assign(n_cells * self.tables.n_states, 0)
        self.tops.assign(n_cells * self.tables.n_states, 0)
        self.kept.assign(n_cells * self.n_state_blocks, 0)
        self.base_outside.assign(self.tables.n_states, 0)

    cdef inline size_t _place(self, int32_t p, int32_t state) noexcept nogil:
        """Return the place of the values of a state over the spans from or to a position."""
        return (<size_t>p * self.tables.n_states + state) * (self.n_words + 1)

    # Inside

    cdef void _run_inside(self) noexcept nogil:
        cdef int32_t i, j, k
        cdef size_t cell
        cdef double* bases
        for j in range(1, self.n_words + 1):
            for i in range(j - 1, -1, -1):
                cell = cell_of(i, j)
                bases = &self.bases[cell * self.tables.n_states]
                if j == i + 1:
                    self._find_words(i, bases)
                for k in range(i + 1, j):
                    self._join(cell_of(i, k), cell_of(k, j), bases)
                self._find_tops(cell, bases)
                self._keep(i, j, cell)

    cdef void _find_words(self, int32_t i, double* bases) noexcept nogil:
        cdef size_t k, n_lexical = self.lexical_rules.size()
        for k in range(n_lexical):
            bases[self.tables.lexical_states[k]] += self.words[i * n_lexical + k]

    cdef void _join(self, size_t left_cell, size_t right_cell, double* bases) noexcept nogil:
        """Add what binary rules make of the tops of two neighbouring spans."""
        cdef size_t n_states = self.tables.n_states, n_blocks = self.n_state_blocks, a, b
        cdef const double* left_tops = &self.tops[left_cell * n_states]
        cdef const double* right_tops = &self.tops[right_cell * n_states]
        cdef int32_t left, right, k
        cdef uint64_t lefts, rights
        cdef double product
        for a in range(n_blocks):
            lefts = self.kept[left_cell * n_blocks + a]
            while lefts:
                left = <int32_t>a * 64 + pop_lowest(&lefts)
                for b in range(n_blocks):
                    rights = self.kept[right_cell * n_blocks + b] & self.partners[left * n_blocks + b]
                    while rights:
                        right = <int32_t>b * 64 + pop_lowest(&rights)
                        product = left_tops[left] * right_tops[right]
                        for k in range(
                            self.first_made[left * n_states + right], self.first_made[left * n_states + right + 1]
                        ):
                            bases[self.made[k].parent] += self.made[k].probability * product

    cdef void _find_tops(self, size_t cell, const double* bases) noexcept nogil:
        cdef double* tops = &self.tops[cell * self.tables.n_states]
        cdef int32_t state, k
        for state in range(self.tables.n_states):
            tops[state] = bases[state]
            if self.tables.has_levels[state]:
                tops[state] *= self.bare[state]
                for k in range(self.tables.first_unary[state], self.tables.first_unary[state + 1]):
                    tops[state] += self.unary[k] * bases[self.tables.unary[k].child]

    cdef void _keep(self, int32_t i, int32_t j, size_t cell) noexcept nogil:
        """Drop the tops of a span that are far below the best one, and keep the others for larger spans."""
        cdef size_t n_states = self.tables.n_states, row, column, state
        cdef double* tops = &self.tops[cell * n_states]
        cdef double best = 0
        for state in range(n_states):
            best = max(best, tops[state] * self.prior[state])
        for state in range(n_states):
            if tops[state] == 0 or tops[state] * self.prior[state] < self.beam * best:
                tops[state] = 0
                continue
            row, column = i * n_states + state, j * n_states + state
            self.inside[row * (self.n_words + 1) + j] = self.inside[column * (self.n_words + 1) + i] = tops[state]
            self.splits[row * self.n_blocks + (j >> 6)] |= <uint64_t>1 << (j & 63)
            self.splits[column * self.n_blocks + (i >> 6)] |= <uint64_t>1 << (i & 63)
            self.kept[cell * self.n_state_blocks + (state >> 6)] |= <uint64_t>1 << (state & 63)

    cdef double _find_total(self) noexcept nogil:
        """Set the outside probabilities of what may be on top. Return the probability of the sentence."""
        cdef double total = self._find_pieces()
        cdef int32_t i, j
        cdef size_t k, place
        for j in range(1, self.n_words + 1):
            for i in range(j):
                for k in range(self.whole.size()):
                    self.outside[self._place(i, self.whole[k]) + j] = PIECE * self.before[i] * self.behind[j]
        for k in range(self.roots.size()):
            place = self._place(0, self.tables.roots[k].child) + self.n_words
            self.outside[place] += self.roots[k]
            total += self.roots[k] * self.inside[place]
        return total

    cdef double _find_pieces(self) noexcept nogil:
        """Sum over the sequences of pieces before and behind each position. Return the sum for the sentence."""
        cdef int32_t i, j
        self.before.assign(self.n_words + 1, 0)
        self.behind.assign(self.n_words + 1, 0)
        self.before[0] = self.behind[self.n_words] = 1
        for j in range(1, self.n_words + 1):
            for i in range(j):
                self.before[j] += self.before[i] * self._piece(i, j)
        for i in range(self.n_words - 1, -1, -1):
            for j in range(i + 1, self.n_words + 1):
                self.behind[i] += self._piece(i, j) * self.behind[j]
        return self.behind[0]

    cdef double _piece(self, int32_t i, int32_t j) noexcept nogil:
        cdef double total = 0
        cdef size_t k
        for k in range(self.whole.size()):
            total += self.tops[cell_of(i, j) * self.tables.n_states + self.whole[k]]
        return PIECE * total

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


def _priors(grammar):
    """Return how often each state is the child of a binary or root rule, relative to all of them."""
    binary, roots = grammar.counts[: grammar.first_unary], grammar.counts[grammar.first_root :]
    counts = np.bincount(grammar.roots, roots, len(grammar.states))
    for child in (1, 2):
        counts += np.bincount(grammar.binary[:, child], binary, len(grammar.states))
    return counts / counts.sum()
