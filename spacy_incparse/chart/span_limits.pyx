"""Constraints on brackets as limits on the spans of a chart.

In a binary tree a bracket is a node if no node crosses it. So a required bracket excludes all spans that cross it, and
over its own words what lacks its label. Trees under these limits are exactly those that satisfy the constraints.
"""

from libc.stdint cimport int32_t, uint64_t

from spacy_incparse.chart.forest cimport WRAP
from spacy_incparse.chart.rule_tables cimport RuleTables, UnaryC

from spacy_incparse.trees.labels import ROOT

cdef enum:
    FREE = -1
    BLOCKED = -2


cdef class SpanLimits:
    """The limits that constraints set on a sentence of `n_words` words.

    constraints: may be satisfied by some tree, and say nothing about the root; see `constraints.limiting`.
    """

    def __init__(self, grammar, RuleTables tables, constraints, int32_t n_words):
        cdef int32_t start, end
        self.n_words, self.n_states, self.n_unary = n_words, tables.n_states, tables.unary.size()
        self.rows.assign(cell_of(0, n_words + 1), FREE)
        by_span = {}
        for constraint in constraints:
            by_span.setdefault((constraint.start, constraint.end), []).append(constraint)
            if constraint.is_required:
                self._block_crossing(constraint.start, constraint.end)
        state_labels = [_names(grammar, grammar.state_labels[k]) for k in range(len(grammar.states))]
        state_labels += [set()] * (tables.n_states - len(state_labels))
        unary_rules = tables.unary_rules
        unary_labels = [_names(grammar, grammar.labels_made(rule)) for rule in unary_rules]
        for number, ((start, end), here) in enumerate(sorted(by_span.items(), key=_span)):
            if self.rows[cell_of(start, end)] == FREE:
                self.rows[cell_of(start, end)] = number
            required = list(dict.fromkeys([constraint.label for constraint in here if constraint.is_required]))
            forbidden = [constraint.label for constraint in here if not constraint.is_required]
            for labels in state_labels:
                self.lacks.push_back(_bits(labels, required, forbidden, False))
            for labels, rule in zip(unary_labels, unary_rules, strict=True):
                excluded = forbidden if required or rule > WRAP else [None]  # see allows_unary
                self.gives.push_back(_bits(labels, required, excluded, True))

    def _block_crossing(self, int32_t start, int32_t end):
        """Exclude the spans that contain some of these words and others, but not all of these."""
        cdef int32_t i, j
        for j in range(start + 1, end):
            for i in range(start):
                self.rows[cell_of(i, j)] = BLOCKED
        for j in range(end + 1, self.n_words + 1):
            for i in range(start + 1, end):
                self.rows[cell_of(i, j)] = BLOCKED

    cdef bint allows_span(self, size_t cell) noexcept nogil:
        """Return whether there may be any node over a span."""
        return self.rows[cell] != BLOCKED

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


def _span(item):
    return item[0]


def _names(grammar, labels):
    """Return the names of phrases without the root's, of which constraints say nothing."""
    return {grammar.labels[label] for label in labels} - {ROOT}


def _bits(labels, required, forbidden, bint gives):
    """Return a bit for each required label that is among the labels, or with `gives` false, is not."""
    cdef uint64_t bits = 0
    for k, wanted in enumerate(required):
        if _is_among(wanted, labels) == gives:
            bits |= <uint64_t>1 << <int>k
    for unwanted in forbidden:
        if _is_among(unwanted, labels):
            bits |= <uint64_t>1 << FORBIDDEN_BIT
    return bits


def _is_among(label, labels):
    return bool(labels) if label is None else label in labels
