"""The brackets that the edges of a forest make: their expected numbers, and scores of brackets as scores of edges."""

from libc.stdint cimport int32_t
from libcpp.vector cimport vector

import numpy as np

from spacy_incparse.chart.forest cimport Forest, GLUE_ROOT, WRAP

cdef class EdgeLabels:
    """The labels of the phrases that each rule of a grammar makes."""

    cdef readonly Py_ssize_t n_labels
    cdef Py_ssize_t n_rules
    cdef vector[int32_t] labels
    cdef vector[int32_t] first_labels  # of rules, then of states for WRAP, then of GLUE_ROOT

    def __init__(self, grammar):
        self.n_labels, self.n_rules = len(grammar.labels), grammar.n_rules
        for labels in (*grammar.rule_labels, *grammar.state_labels, grammar.labels_made(GLUE_ROOT)):
            self.first_labels.push_back(<int32_t>self.labels.size())
            for label in labels:
                self.labels.push_back(label)
        self.first_labels.push_back(<int32_t>self.labels.size())

    def spans(self, Forest forest not None):
        """Return the spans of a forest's nodes, each once: int32 (n_spans, 2)."""
        nodes = forest.node_array()[:, 1:3]
        is_first = np.ones(len(nodes), bool)
        is_first[1:] = (nodes[1:] != nodes[: forest.n_nodes - 1]).any(axis=1)
        return nodes[is_first]

    def expected(self, Forest forest not None, const double[::1] values):
        """Return the sum of the values of the edges that make each bracket: float64 (n_spans, n_labels).

        If the values are marginals, these are the expected numbers of each bracket.
        """
        found = np.zeros((len(self.spans(forest)), self.n_labels))
        cdef double[:, ::1] sums = found
        cdef const double* given = &values[0] if values.shape[0] else NULL
        if values.shape[0] != forest.n_edges:
            raise ValueError(f"{values.shape[0]} values for {forest.n_edges} edges")
        if forest:
            self._visit(forest, given, &sums[0, 0], NULL)
        return found

    def edge_scores(self, Forest forest not None, const double[:, ::1] bracket_scores):
        """Return the sum of the scores of the brackets that each edge makes: float64 (n_edges,).

        bracket_scores: (n_spans, n_labels), as `expected` returns them.
        """
        found = np.zeros(forest.n_edges)
        cdef double[::1] scores = found
        shape = len(self.spans(forest)), self.n_labels
        if (bracket_scores.shape[0], bracket_scores.shape[1]) != shape:
            raise ValueError(f"scores of shape {bracket_scores.shape[0], bracket_scores.shape[1]}, not {shape}")
        if forest:
            self._visit(forest, &bracket_scores[0, 0], NULL, &scores[0])
        return found

    cdef void _visit(self, Forest forest, const double* given, double* brackets, double* edges) noexcept nogil:
        """Add the values given for edges to their brackets, or those given for brackets to their edges."""
        cdef size_t v, row = 0
        cdef int32_t e, k, key
        for v in range(forest.nodes.size()):
            if v and (forest.nodes[v].start != forest.nodes[v - 1].start
                      or forest.nodes[v].end != forest.nodes[v - 1].end):
                row += 1
            for e in range(forest.first_edges[v], forest.first_edges[v + 1]):
                key = self._key(forest.edges[e].rule)
                if key < 0:
                    continue
                for k in range(self.first_labels[key], self.first_labels[key + 1]):
                    if edges == NULL:
                        brackets[row * self.n_labels + self.labels[k]] += given[e]
                    else:
                        edges[e] += given[row * self.n_labels + self.labels[k]]

    cdef int32_t _key(self, int32_t rule) noexcept nogil:
        """Return the place of a rule in the table; -1 for what makes no phrase."""
        if rule >= 0:
            return rule
        if rule <= WRAP:
            return <int32_t>self.n_rules + WRAP - rule
        if rule == GLUE_ROOT:
            return <int32_t>self.first_labels.size() - 2
        return -1
