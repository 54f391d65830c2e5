"""The k best trees of a packed forest, exactly: algorithm 3 of Huang & Chiang (2005).

The derivations of a node are found one by one, best first, and only as far as they are asked for. A derivation is an
edge with the ranks of its children's derivations. After one with ranks (x, y) come those with (x, y + 1) and, if y is
0, (x + 1, 0), so that each pair is reached once. The best derivation of each node is known from Viterbi.
"""

from libc.stdint cimport int32_t
from libcpp.algorithm cimport pop_heap, push_heap
from libcpp.vector cimport vector

from itertools import count, takewhile

import numpy as np

from spacy_incparse.chart.forest cimport EdgeC, Forest
from spacy_incparse.chart.recurrences cimport fill_best


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
    """The trees of a forest by descending score; among equals those with earlier edges come first."""

    cdef readonly Forest forest
    cdef const double[::1] scores
    cdef vector[QueueC] queues
    cdef vector[RequestC] requests

    def __init__(self, Forest forest not None, const double[::1] scores):
        cdef size_t v
        if not forest:
            raise ValueError("the forest is empty: the sentence has no tree")
        if scores.shape[0] != forest.n_edges:
            raise ValueError(f"{scores.shape[0]} scores for {forest.n_edges} edges")
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
        if rank < 0:
            raise ValueError(f"the rank is {rank}; the best tree has rank 0")
        with nogil:
            self._find(goal, rank)
        if rank >= <int32_t>self.queues[goal].found.size():
            return None
        score = self.queues[goal].found[rank].score
        if score == -np.inf:
            return None
        with nogil:
            self._follow(RequestC(goal, rank), &edges)
        return score, np.array(edges, np.int32)

    def __iter__(self):
        return takewhile(bool, map(self.tree, count()))  # None follows the last one

    cdef void _find(self, int32_t node, int32_t rank) noexcept nogil:
        """Find the derivations of a node up to a rank, or all if there are not that many.

        What a derivation needs is requested and found before; the depth of requests is that of the forest.
        """
        cdef RequestC request
        self.requests.clear()
        self.requests.push_back(RequestC(node, rank))
        while not self.requests.empty():
            request = self.requests.back()
            if <int32_t>self.queues[request.node].found.size() > request.rank or self._is_exhausted(request.node):
                self.requests.pop_back()
            elif self._continue(request.node):
                self._take_next(request.node)

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

    cdef void _take_next(self, int32_t node) noexcept nogil:
        cdef QueueC* queue = &self.queues[node]
        if queue.candidates.empty():
            return
        pop_heap(queue.candidates.begin(), queue.candidates.end(), &_is_worse)
        queue.found.push_back(queue.candidates.back())
        queue.candidates.pop_back()
        queue.is_continued = False

    cdef void _follow(self, RequestC start, vector[int32_t]* edges) noexcept nogil:
        """Append the edges of a derivation in pre-order."""
        cdef vector[RequestC] waiting
        cdef DerivationC here
        cdef const EdgeC* edge
        waiting.push_back(start)
        while not waiting.empty():
            here = self.queues[waiting.back().node].found[waiting.back().rank]
            waiting.pop_back()
            edges.push_back(here.edge)
            edge = &self.forest.edges[here.edge]
            if edge.right >= 0:
                waiting.push_back(RequestC(edge.right, here.right))
            if edge.left >= 0:
                waiting.push_back(RequestC(edge.left, here.left))
