"""The rules of a grammar by parent, scores by rule, and what pruning and constraints allow over each span.

In a binary tree a bracket is a node if no node crosses it. So a required bracket excludes all spans that cross it, and
over its own words what lacks its label. Trees under these limits are exactly those that satisfy the constraints.
"""

from libc.stdint cimport int32_t, uint8_t, uint64_t

import numpy as np

from spacy_incparse.chart.forest cimport Forest, GLUE, GLUE_ROOT, IDENTITY, WRAP

from spacy_incparse.trees.labels import ROOT

GLUE_SCORE = -20.0  # lower than any log probability of a rule that matters: as few pieces as possible

cdef enum:
    FREE = -1
    BLOCKED = -2


cdef class RuleTables:
    """The rules of a grammar, by parent.

    is_relaxed: whether there also is a state "glue" for any sequence of neighbours: a word, a phrase, or one of both
    and a shorter sequence. It may be under the root; where a bracket is required, it may be under any phrase. With it
    every sentence has a tree.
    """

    def __init__(self, grammar, bint is_relaxed=False):
        binary = [(parent, rule, left, right) for rule, (parent, left, right) in enumerate(grammar.binary.tolist())]
        unary = [(*row, grammar.first_unary + k) for k, row in enumerate(grammar.unary.tolist())]
        self.n_states, self.glue = len(grammar.states), -1
        self.first_lexical = grammar.first_lexical
        self.lexical_states = grammar.lexical.tolist()
        for k, state in enumerate(grammar.roots.tolist()):
            self.roots.push_back(UnaryC(grammar.first_root + k, state))
        if is_relaxed:
            glue = self.glue = self.n_states
            self.n_states += 1
            whole = whole_states(grammar)
            binary += [(glue, GLUE, state, glue) for state in whole]
            unary += [(glue, state, GLUE) for state in whole]
            unary += [(state, glue, WRAP - state) for state in whole if grammar.state_labels[state]]
            self.roots.push_back(UnaryC(GLUE_ROOT, glue))
        self._fill(binary, unary)

    def _fill(self, binary, unary):
        cdef int32_t parent, rule, left, right, child
        n_binary, n_unary = [0] * (self.n_states + 1), [0] * (self.n_states + 1)
        self.has_levels.assign(self.n_states, 0)
        for parent, rule, left, right in sorted(binary, key=lambda row: row[0]):
            n_binary[parent + 1] += 1
            self.binary.push_back(BinaryC(rule, left, right))
        for parent, child, rule in sorted(unary, key=lambda row: row[0]):
            n_unary[parent + 1] += 1
            self.unary.push_back(UnaryC(rule, child))
            self.has_levels[parent] = self.has_levels[child] = 1
        self.first_binary = np.cumsum(n_binary).tolist()
        self.first_unary = np.cumsum(n_unary).tolist()

    cdef int check_lexical(self, int32_t rule) except -1:
        """Raise ValueError if this is not the number of a lexical rule."""
        cdef int32_t last = self.first_lexical + <int32_t>self.lexical_states.size() - 1
        if not self.first_lexical <= rule <= last:
            raise ValueError(f"{rule} is not the number of a lexical rule; these are {self.first_lexical} to {last}")
        return 0


def whole_states(grammar):
    """Return the states that stand for a phrase or a word, without the root's."""
    return [
        state
        for state, (name, parts) in enumerate(zip(grammar.states, grammar.parts, strict=True))
        if not parts.is_active and name != ROOT
    ]


def rule_scores(Forest forest not None, const double[::1] rules, const double[::1] bare, Py_ssize_t first_lexical=0,
                const double[:, ::1] lexical=None):
    """Return the score of each edge: float64 (n_edges,).

    rules: the score of each rule. bare: the score of each state that could have a unary rule, but has none. lexical:
    scores (n_words, n_lexical_rules) that are added to those of lexical rules. What is no rule has `GLUE_SCORE`.
    """
    found = np.empty(forest.n_edges)
    cdef double[::1] scores = found
    cdef Py_ssize_t v, e
    cdef int32_t rule, state
    cdef double glue = GLUE_SCORE
    cdef Py_ssize_t n_lexical = lexical.shape[1] if lexical is not None else 0
    for v in range(forest.n_nodes):
        state = forest.nodes[v].state
        for e in range(forest.first_edges[v], forest.first_edges[v + 1]):
            rule = forest.edges[e].rule
            if rule >= 0:
                scores[e] = rules[rule]
                if first_lexical <= rule < first_lexical + n_lexical:
                    scores[e] += lexical[forest.nodes[v].start, rule - first_lexical]
            elif rule == IDENTITY:
                scores[e] = bare[state] if state < bare.shape[0] else 0
            else:
                scores[e] = glue
    return found


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

    def __len__(self):
        return <Py_ssize_t>self.states.size()

    def __reduce__(self):
        return SpanStates, (list(self.first), list(self.states), self.n_states)


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
