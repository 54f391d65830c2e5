"""The packed forest of a sentence, seen from Python: arrays of nodes and edges, and scores of edges by rule."""

from libc.stdint cimport int32_t

import numpy as np

GLUE_SCORE = -20.0  # lower than any log probability of a rule that matters: as few pieces as possible


cdef class Forest:
    """All trees of a sentence: a node stands for all ways to derive one state over some words, an edge for one rule.

    Edges are in the order of their nodes, and scores are arrays with one number per edge. A forest without nodes has no
    tree.
    """

    def __bool__(self):
        return not self.nodes.empty()

    @property
    def n_nodes(self):
        """The number of nodes; the last one is the goal."""
        return <Py_ssize_t>self.nodes.size()

    @property
    def n_edges(self):
        """The number of edges."""
        return <Py_ssize_t>self.edges.size()

    def arrays(self):
        """Return what `restored_forest` takes, after the number of words."""
        return self.node_array(), self.edge_array()[:, 0].copy(), self.child_array()

    def node_array(self):
        """Return the nodes as int32 (n_nodes, 4): state (-1: the goal), start, end and the number of the first edge."""
        cdef Py_ssize_t v
        cdef int32_t[:, ::1] rows
        found = np.empty((self.n_nodes, 4), np.int32)
        rows = found
        for v in range(self.n_nodes):
            rows[v, 0], rows[v, 1], rows[v, 2] = self.nodes[v].state, self.nodes[v].start, self.nodes[v].end
            rows[v, 3] = self.first_edges[v]
        return found

    def edge_array(self):
        """Return the edges as int32 (n_edges, 4): rule, start, split (the end if there is no right child) and end."""
        cdef Py_ssize_t v, e
        cdef int32_t[:, ::1] rows
        cdef NodeC node
        found = np.empty((self.n_edges, 4), np.int32)
        rows = found
        for v in range(self.n_nodes):
            node = self.nodes[v]
            for e in range(self.first_edges[v], self.first_edges[v + 1]):
                rows[e, 0], rows[e, 1], rows[e, 3] = self.edges[e].rule, node.start, node.end
                rows[e, 2] = node.end if self.edges[e].right < 0 else self.nodes[self.edges[e].left].end
        return found

    def child_array(self):
        """Return the children of the edges as int32 (n_edges, 2): node numbers, -1 for none."""
        cdef Py_ssize_t e
        cdef int32_t[:, ::1] rows
        found = np.empty((self.n_edges, 2), np.int32)
        rows = found
        for e in range(self.n_edges):
            rows[e, 0], rows[e, 1] = self.edges[e].left, self.edges[e].right
        return found

    def rules_of(self, const int32_t[::1] edges):
        """Return the rule and the number of children of some edges: int32 (n, 2)."""
        cdef Py_ssize_t k
        cdef int32_t[:, ::1] rows
        cdef EdgeC edge
        found = np.empty((edges.shape[0], 2), np.int32)
        rows = found
        for k in range(edges.shape[0]):
            if not 0 <= edges[k] < self.n_edges:
                raise IndexError(f"there is no edge {edges[k]} among {self.n_edges}")
            edge = self.edges[edges[k]]
            rows[k, 0], rows[k, 1] = edge.rule, (edge.left >= 0) + (edge.right >= 0)
        return found

    def find(self, steps):
        """Return the edges of a derivation, int32 in pre-order, or None if it is not in this forest.

        steps: (rule number, start, split, end) in pre-order, without the steps where no unary rule is applied.
        """
        cdef int32_t node, edge, rule, split
        cdef list found = [], stack = [self.n_nodes - 1] if self else []
        for rule, _, split, _ in steps:
            if not stack:
                return None
            node = stack.pop()
            edge = self._edge(node, rule, split)
            if edge < 0:
                edge = self._edge(node, IDENTITY, self.nodes[node].end)
                if edge < 0:
                    return None
                found.append(edge)
                edge = self._edge(self.edges[edge].left, rule, split)
                if edge < 0:
                    return None
            found.append(edge)
            if self.edges[edge].right >= 0:
                stack.append(self.edges[edge].right)
            if self.edges[edge].left >= 0:
                stack.append(self.edges[edge].left)
        return None if stack or not found else np.array(found, np.int32)

    cdef int32_t _edge(self, int32_t node, int32_t rule, int32_t split):
        """Return the edge of a node with this rule and split, or -1."""
        cdef int32_t e, here
        for e in range(self.first_edges[node], self.first_edges[node + 1]):
            if self.edges[e].rule == rule:
                here = self.nodes[node].end if self.edges[e].right < 0 else self.nodes[self.edges[e].left].end
                if here == split:
                    return e
        return -1


def restored_forest(int32_t n_words, const int32_t[:, ::1] nodes, const int32_t[::1] rules,
                    const int32_t[:, ::1] children):
    """Return a forest from its arrays.

    nodes: as in `node_array`. rules: of the edges. children: as in `child_array`.
    """
    cdef Forest forest = Forest()
    cdef Py_ssize_t k
    forest.n_words = n_words
    for k in range(nodes.shape[0]):
        forest.nodes.push_back(NodeC(nodes[k, 0], nodes[k, 1], nodes[k, 2]))
        forest.first_edges.push_back(nodes[k, 3])
    forest.first_edges.push_back(<int32_t>rules.shape[0])
    for k in range(rules.shape[0]):
        forest.edges.push_back(EdgeC(rules[k], children[k, 0], children[k, 1]))
    return forest


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
