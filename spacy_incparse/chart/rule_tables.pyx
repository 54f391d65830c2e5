"""The rules of a grammar by parent, and the rules that glue together what the grammar cannot."""

from libc.stdint cimport int32_t

import numpy as np

from spacy_incparse.chart.forest cimport GLUE, GLUE_ROOT, WRAP

from spacy_incparse.trees.labels import ROOT


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
        for parent, rule, left, right in sorted(binary, key=_parent):
            n_binary[parent + 1] += 1
            self.binary.push_back(BinaryC(rule, left, right))
        for parent, child, rule in sorted(unary, key=_parent):
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

    @property
    def unary_rules(self):
        """The numbers of the unary rules in the order of these tables."""
        return [self.unary[k].rule for k in range(self.unary.size())]


def _parent(row):
    return row[0]


def whole_states(grammar):
    """Return the states that stand for a phrase or a word, without the root's."""
    return [
        state
        for state, (name, parts) in enumerate(zip(grammar.states, grammar.parts, strict=True))
        if not parts.is_active and name != ROOT
    ]
