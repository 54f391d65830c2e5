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
from libcpp.algorithm cimport pop_heap, push_heap
from libcpp.vector cimport vector

from itertools import count, takewhile

import numpy as np

from spacy_incparse.chart.forest cimport EdgeC, Forest, GLUE_ROOT, WRAP


def inside(Forest forest not None, const double[::1] scores):
    """Return I(v), the log of the summed weights of all derivations of each node: float64 (n_nodes,)."""
    _check(forest, scores)
    found = np.empty(forest.n_nodes)
    cdef double[::1] view = found
    cdef double* values = &view[0]
    cdef const EdgeC* edges = forest.edges.data()
    cdef size_t v
    cdef int32_t e, first, last
    cdef double highest, total
    with nogil:
        for v in range(forest.nodes.size()):
            first, last = forest.first_edges[v], forest.first_edges[v + 1]
            highest, total = -INFINITY, 0
            for e in range(first, last):
                highest = max(highest, _through(&edges[e], scores[e], values))
            values[v] = highest
            if highest > -INFINITY:
                for e in range(first, last):
                    total += exp(_through(&edges[e], scores[e], values) - highest)
                values[v] += log(total)
    return found


def log_partition(Forest forest not None, const double[::1] scores):
    """Return log Z, the log of the summed weights of all trees."""
    return float(inside(forest, scores)[forest.n_nodes - 1])


def marginals(Forest forest not None, const double[::1] scores):
    """Return the probability of each edge: float64 (n_edges,), all 0 if no tree has a weight above 0."""
    found = np.zeros(forest.n_edges)
    cdef double[::1] values = inside(forest, scores), nodes = np.zeros(forest.n_nodes), edges = found
    cdef int32_t v, e, goal = <int32_t>forest.nodes.size() - 1
    cdef const EdgeC* edge
    with nogil:
        nodes[goal] = values[goal] > -INFINITY
        for v in range(goal, -1, -1):
            if nodes[v] == 0:
                continue
            for e in range(forest.first_edges[v], forest.first_edges[v + 1]):
                edge = &forest.edges[e]
                edges[e] = nodes[v] * exp(_through(edge, scores[e], &values[0]) - values[v])
                if edge.left >= 0:
                    nodes[edge.left] += edges[e]
                if edge.right >= 0:
                    nodes[edge.right] += edges[e]
    return found


def viterbi(Forest forest not None, const double[::1] scores):
    """Return the best tree's score and its edges in pre-order, int32. Among equal edges the first one wins."""
    _check(forest, scores)
    values, choices = np.empty(forest.n_nodes), np.empty(forest.n_nodes, np.int32)
    cdef double[::1] best = values
    cdef int32_t[::1] best_edges = choices
    cdef vector[int32_t] found, waiting
    cdef const EdgeC* edge
    with nogil:
        fill_best(forest, &scores[0], &best[0], &best_edges[0])
        waiting.push_back(<int32_t>forest.nodes.size() - 1)
        while not waiting.empty():
            found.push_back(best_edges[waiting.back()])
            waiting.pop_back()
            edge = &forest.edges[found.back()]
            if edge.right >= 0:
                waiting.push_back(edge.right)
            if edge.left >= 0:
                waiting.push_back(edge.left)
    return float(values[forest.n_nodes - 1]), np.array(found, np.int32)


cdef inline double _through(const EdgeC* edge, double score, const double* values) noexcept nogil:
    """Return a score with the values of the children."""
    if edge.left >= 0:
        score += values[edge.left]
    if edge.right >= 0:
        score += values[edge.right]
    return score


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


cdef struct DerivationC:
    double score
    int32_t edge
    int32_t left    # ranks; 0 without a child
    int32_t right


# What is known of a node.
cdef struct QueueC:
    vector[DerivationC] found       # best first
    vector[DerivationC] candidates  # a heap
    bint is_started                 # whether all edges are among the candidates or found
    bint is_continued               # whether what follows the last derivation found is among the candidates


# A derivation that is needed.
cdef struct RequestC:
    int32_t node
    int32_t rank


cdef bint _is_worse(const DerivationC& a, const DerivationC& b) noexcept nogil:
    if a.score != b.score:
        return a.score < b.score
    if a.edge != b.edge:
        return a.edge > b.edge
    if a.left != b.left:
        return a.left > b.left
    return a.right > b.right


cdef class KBest:
    """The trees of a forest by descending score; among equals those with earlier edges come first.

    This is algorithm 3 of Huang & Chiang (2005). The derivations of a node are found one by one, best first, and only
    as far as they are asked for. A derivation is an edge with the ranks of its children's derivations. After one with
    ranks (x, y) come those with (x, y + 1) and, if y is 0, (x + 1, 0), so that each pair is reached once. The best
    derivation of each node is known from Viterbi.
    """

    cdef readonly Forest forest
    cdef const double[::1] scores
    cdef vector[QueueC] queues
    cdef vector[RequestC] requests

    def __init__(self, Forest forest not None, const double[::1] scores):
        cdef size_t v
        _check(forest, scores)
        self.forest, self.scores = forest, scores
        self.queues.resize(forest.nodes.size())
        best_scores, best_edges = np.empty(forest.n_nodes), np.empty(forest.n_nodes, np.int32)
        cdef double[::1] best = best_scores
        cdef int32_t[::1] edges = best_edges
        with nogil:
            fill_best(forest, &scores[0], &best[0], &edges[0])
            for v in range(self.queues.size()):
                self.queues[v].is_started = self.queues[v].is_continued = False
                self.queues[v].found.push_back(DerivationC(best[v], edges[v], 0, 0))

    def tree(self, int32_t rank):
        """Return the score of a tree and its edges in pre-order, int32; None if there are not that many trees.

        rank: 0 for the best tree. Trees with a score of minus infinity do not count.
        """
        cdef int32_t goal = <int32_t>self.queues.size() - 1
        cdef vector[int32_t] edges
        cdef vector[RequestC] waiting
        cdef DerivationC here
        cdef const EdgeC* edge
        if rank < 0:
            raise ValueError(f"the rank is {rank}; the best tree has rank 0")
        with nogil:
            self._find(goal, rank)
        if rank >= <int32_t>self.queues[goal].found.size():
            return None
        score = self.queues[goal].found[rank].score
        if score == -np.inf:
            return None
        waiting.push_back(RequestC(goal, rank))
        while not waiting.empty():
            here = self.queues[waiting.back().node].found[waiting.back().rank]
            waiting.pop_back()
            edges.push_back(here.edge)
            edge = &self.forest.edges[here.edge]
            if edge.right >= 0:
                waiting.push_back(RequestC(edge.right, here.right))
            if edge.left >= 0:
                waiting.push_back(RequestC(edge.left, here.left))
        return score, np.array(edges, np.int32)

    def __iter__(self):
        return takewhile(bool, map(self.tree, count()))  # None follows the last one

    cdef void _find(self, int32_t node, int32_t rank) noexcept nogil:
        """Find the derivations of a node up to a rank, or all if there are not that many.

        What a derivation needs is requested and found before; the depth of requests is that of the forest.
        """
        cdef RequestC request
        cdef QueueC* queue
        self.requests.clear()
        self.requests.push_back(RequestC(node, rank))
        while not self.requests.empty():
            request = self.requests.back()
            if <int32_t>self.queues[request.node].found.size() > request.rank or self._is_exhausted(request.node):
                self.requests.pop_back()
            elif self._continue(request.node) and not self.queues[request.node].candidates.empty():
                queue = &self.queues[request.node]
                pop_heap(queue.candidates.begin(), queue.candidates.end(), &_is_worse)
                queue.found.push_back(queue.candidates.back())
                queue.candidates.pop_back()
                queue.is_continued = False

    cdef bint _is_exhausted(self, int32_t node) noexcept nogil:
        cdef QueueC* queue = &self.queues[node]
        return queue.is_started and queue.is_continued and queue.candidates.empty()

    cdef bint _continue(self, int32_t node) noexcept nogil:
        """Add what follows the last derivation found. Return whether all that this needs is known; else request it."""
        cdef QueueC* queue = &self.queues[node]
        cdef DerivationC last
        cdef const EdgeC* edge
        cdef size_t n_requests = self.requests.size()
        cdef int32_t e
        if not queue.is_started:  # the best edge has been found
            for e in range(self.forest.first_edges[node], self.forest.first_edges[node + 1]):
                if e != queue.found[0].edge:
                    self._offer(node, e, 0, 0)
            queue.is_started = True
        if queue.is_continued:
            return True
        last = queue.found.back()
        edge = &self.forest.edges[last.edge]
        if edge.right >= 0:
            self._request(edge.right, last.right + 1)
        if last.right == 0 and edge.left >= 0:
            self._request(edge.left, last.left + 1)
        if self.requests.size() > n_requests:
            return False
        queue.is_continued = True
        if edge.right >= 0:
            self._offer(node, last.edge, last.left, last.right + 1)
        if last.right == 0 and edge.left >= 0:
            self._offer(node, last.edge, last.left + 1, 0)
        return True

    cdef void _request(self, int32_t node, int32_t rank) noexcept nogil:
        if <int32_t>self.queues[node].found.size() <= rank and not self._is_exhausted(node):
            self.requests.push_back(RequestC(node, rank))

    cdef void _offer(self, int32_t node, int32_t e, int32_t left, int32_t right) noexcept nogil:
        """Add a candidate if its children's derivations exist."""
        cdef const EdgeC* edge = &self.forest.edges[e]
        cdef double score = self.scores[e]
        if edge.left >= 0:
            if left >= <int32_t>self.queues[edge.left].found.size():
                return
            score += self.queues[edge.left].found[left].score
        if edge.right >= 0:
            if right >= <int32_t>self.queues[edge.right].found.size():
                return
            score += self.queues[edge.right].found[right].score
        self.queues[node].candidates.push_back(DerivationC(score, e, left, right))
        push_heap(self.queues[node].candidates.begin(), self.queues[node].candidates.end(), &_is_worse)
