"""Chart parsing by enumeration: all derivations of a sentence as lists of (rule, state, start, split, end)."""

from functools import cache
from itertools import product
from math import prod

from spacy_incparse.chart.grammar import GLUE, GLUE_ROOT, IDENTITY
from spacy_incparse.trees.labels import ROOT


class Enumeration:
    """All derivations under a grammar, by the definition.

    words: the lexical rules of each word. is_relaxed: phrases may stand beside one another below the root.
    """

    def __init__(self, grammar, words, is_relaxed=False):
        self.grammar, self.words, self.is_relaxed = grammar, words, is_relaxed
        self.glue = len(grammar.states) if is_relaxed else None
        self.whole = [
            state
            for state, parts in enumerate(grammar.parts)
            if not parts.is_active and grammar.states[state] != ROOT and is_relaxed
        ]
        self.levels = {state for row in grammar.unary.tolist() for state in row} | set(self.whole) | {self.glue}
        self.top, self.base = cache(self._top), cache(self._base)

    def all(self):
        """All derivations in pre-order."""
        n = len(self.words)
        roots = [(self.grammar.first_root + k, state) for k, state in enumerate(self.grammar.roots.tolist())]
        roots += [(GLUE_ROOT, self.glue)] if self.is_relaxed else []
        return [((rule, -1, 0, n, n), *below) for rule, state in roots for below in self.top(state, 0, n)]

    def _top(self, state, i, j):
        if state not in self.levels:
            return self.base(state, i, j)
        found = [((IDENTITY, state, i, j, j), *below) for below in self.base(state, i, j)]
        for rule, child in self._unary_rules(state):
            found += [((rule, state, i, j, j), *below) for below in self.base(child, i, j)]
        return found

    def _unary_rules(self, state):
        rows = enumerate(self.grammar.unary.tolist(), start=self.grammar.first_unary)
        found = [(rule, child) for rule, (parent, child) in rows if parent == state]
        if self.is_relaxed and state == self.glue:
            found += [(GLUE, child) for child in self.whole]
        return found

    def _base(self, state, i, j):
        found = []
        if j == i + 1:
            lexical = self.grammar.lexical.tolist()
            rules = [rule for rule in self.words[i] if lexical[rule - self.grammar.first_lexical] == state]
            rules += [GLUE] if self.is_relaxed and state == self.glue else []
            found += [((rule, state, i, j, j),) for rule in rules]
        binary = [(rule, *row[1:]) for rule, row in enumerate(self.grammar.binary.tolist()) if row[0] == state]
        if self.is_relaxed and state == self.glue:
            binary += [(GLUE, child, state) for child in self.whole]
        for k in range(i + 1, j):
            for rule, left, right in binary:
                pairs = product(self.top(left, i, k), self.top(right, k, j))
                found += [((rule, state, i, k, j), *a, *b) for a, b in pairs]
        return found


def edges_by_node(forest):
    """The state of each node with its edges."""
    nodes = forest.node_array().tolist()
    ends = [node[3] for node in nodes[1:]] + [forest.n_edges]
    return [(node[0], range(node[3], end)) for node, end in zip(nodes, ends[: len(nodes)], strict=True)]


def edge_keys(forest):
    """The edges of a forest as an enumeration names them."""
    states = [state for state, edges in edges_by_node(forest) for _ in edges]
    return [(rule, state, *place) for (rule, *place), state in zip(forest.edge_array().tolist(), states, strict=True)]


def forest_derivations(forest):
    """All derivations in a forest as tuples of edges in pre-order."""
    children, found = forest.child_array().tolist(), []
    for _, edges in edges_by_node(forest):
        here = []
        for edge in edges:
            below = [found[child] for child in children[edge] if child >= 0]
            here += [(edge, *(e for part in parts for e in part)) for parts in product(*below)]
        found.append(here)
    return found[-1] if found else []


def count_derivations(forest):
    """The number of derivations, however many there are."""
    children, counts = forest.child_array().tolist(), []
    for _, edges in edges_by_node(forest):
        counts.append(sum(prod(counts[child] for child in children[edge] if child >= 0) for edge in edges))
    return counts[-1] if counts else 0
