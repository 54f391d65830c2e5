"""A sparse mask: the states that pruning leaves over each span, most of which have none."""

from libc.stdint cimport int32_t, uint8_t

import numpy as np


cdef class SpanStates:
    """For each span the states that it may have, ascending; spans are numbered by `span_numbers.span_number`.

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
