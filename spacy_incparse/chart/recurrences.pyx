"""Recurrences over a packed forest, for any score per edge.

Node v stands for a state over some words. Each of its edges e has a score s(e) and at most two children, l and r; of
missing children all values are 0. The weight of a tree is the sum of its edges' scores.

    inside      I(v) = log sum over e of exp(s(e) + I(l) + I(r))                  log Z = I(goal)
    marginals   p(goal) = 1,  p(e) = p(v) exp(s(e) + I(l) + I(r) - I(v)),         p(l) += p(e),  p(r) += p(e)
    Viterbi     B(v) = max over e of s(e) + B(l) + B(r)

The marginals from the top down are those of the outside algorithm (Baker 1979; Goodman 1999), without an outside score.
p(e) is also the derivative of log Z by s(e). Forests may be of any depth: nothing recurses.
"""

from libc.math cimport INFINITY, exp, log
from libc.stdint cimport int32_t
from libcpp.vector cimport vector

import numpy as np

from spacy_incparse.chart.forest cimport EdgeC, Forest, GLUE_ROOT, WRAP


def inside(Forest forest not None, const double[::1] scores):
    """Return I(v), the log of the summed weights of all derivations of each node: float64 (n_nodes,)."""
    _check(forest, scores)
    found = np.empty(forest.n_nodes)
    cdef double[::1] values = found
    with nogil:
        fill_inside(forest, &scores[0], &values[0])
    return found


def log_partition(Forest forest not None, const double[::1] scores):
    """Return log Z, the log of the summed weights of all trees."""
    return float(inside(forest, scores)[forest.n_nodes - 1])


def marginals(Forest forest not None, const double[::1] scores):
    """Return the probability of each edge: float64 (n_edges,), all 0 if no tree has a weight above 0."""
    values, nodes, found = inside(forest, scores), np.zeros(forest.n_nodes), np.zeros(forest.n_edges)
    cdef double[::1] inside_values = values, node_values = nodes, edges = found
    with nogil:
        fill_marginals(forest, &scores[0], &inside_values[0], &node_values[0], &edges[0])
    return found


def viterbi(Forest forest not None, const double[::1] scores):
    """Return the best tree's score and its edges in pre-order, int32. Among equal edges the first one wins."""
    _check(forest, scores)
    values, choices = np.empty(forest.n_nodes), np.empty(forest.n_nodes, np.int32)
    cdef double[::1] best = values
    cdef int32_t[::1] best_edges = choices
    cdef vector[int32_t] found
    with nogil:
        fill_best(forest, &scores[0], &best[0], &best_edges[0])
        follow(forest, &best_edges[0], &found)
    return float(values[forest.n_nodes - 1]), np.array(found, np.int32)


cdef inline double _through(const EdgeC* edge, double score, const double* values) noexcept nogil:
    """Return a score with the values of the children."""
    if edge.left >= 0:
        score += values[edge.left]
    if edge.right >= 0:
        score += values[edge.right]
    return score


cdef void fill_inside(Forest forest, const double* scores, double* inside) noexcept nogil:
    cdef size_t v
    cdef int32_t e, first, last
    cdef double highest, total
    for v in range(forest.nodes.size()):
        first, last = forest.first_edges[v], forest.first_edges[v + 1]
        highest, total = -INFINITY, 0
        for e in range(first, last):
            highest = max(highest, _through(&forest.edges[e], scores[e], inside))
        inside[v] = highest
        if highest == -INFINITY:
            continue
        for e in range(first, last):
            total += exp(_through(&forest.edges[e], scores[e], inside) - highest)
        inside[v] += log(total)


cdef void fill_marginals(Forest forest, const double* scores, const double* inside, double* nodes,
                         double* edges) noexcept nogil:
    """Fill the probabilities of edges and nodes; those of nodes must be 0 before."""
    cdef int32_t v, e, goal = <int32_t>forest.nodes.size() - 1
    cdef const EdgeC* edge
    if inside[goal] == -INFINITY:
        return
    nodes[goal] = 1
    for v in range(goal, -1, -1):
        if nodes[v] == 0:
            continue
        for e in range(forest.first_edges[v], forest.first_edges[v + 1]):
            edge = &forest.edges[e]
            edges[e] = nodes[v] * exp(_through(edge, scores[e], inside) - inside[v])
            if edge.left >= 0:
                nodes[edge.left] += edges[e]
            if edge.right >= 0:
                nodes[edge.right] += edges[e]


cdef void fill_best(Forest forest, const double* scores, double* best, int32_t* best_edges) noexcept nogil:
    cdef size_t v
    cdef int32_t e
    cdef double here
    for v in range(forest.nodes.size()):
        best[v], best_edges[v] = -INFINITY, forest.first_edges[v]
        for e in range(forest.first_edges[v], forest.first_edges[v + 1]):
            here = _through(&forest.edges[e], scores[e], best)
            if here > best[v]:
                best[v], best_edges[v] = here, e


cdef void follow(Forest forest, const int32_t* best_edges, vector[int32_t]* found) noexcept nogil:
    """Append the edges of the tree with the chosen edge of each node, in pre-order."""
    cdef vector[int32_t] waiting
    cdef const EdgeC* edge
    waiting.push_back(<int32_t>forest.nodes.size() - 1)
    while not waiting.empty():
        found.push_back(best_edges[waiting.back()])
        waiting.pop_back()
        edge = &forest.edges[found.back()]
        if edge.right >= 0:
            waiting.push_back(edge.right)
        if edge.left >= 0:
            waiting.push_back(edge.left)


def _check(Forest forest, const double[::1] scores):
    if not forest:
        raise ValueError("the forest is empty: the sentence has no tree")
    if scores.shape[0] != forest.n_edges:
        raise ValueError(f"{scores.shape[0]} scores for {forest.n_edges} edges")


cdef class EdgeLabels:
    """The brackets that the edges of a forest make: their expected numbers, and their scores as scores of edges."""

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
