"""Scores per rule as scores per edge, for models whose scores do not depend on where a rule is applied."""

from libc.stdint cimport int32_t

import numpy as np

from spacy_incparse.chart.forest cimport Forest, IDENTITY

GLUE_SCORE = -20.0  # lower than any log probability of a rule that matters: as few pieces as possible


def rule_scores(
    Forest forest not None,
    const double[::1] rules,
    const double[::1] bare,
    Py_ssize_t first_lexical=0,
    const double[:, ::1] lexical=None,
    double glue=GLUE_SCORE,
):
    """Return the score of each edge: float64 (n_edges,).

    rules: the score of each rule. bare: the score of each state that could have a unary rule, but has none. lexical:
    scores (n_words, n_lexical_rules) that are added to those of lexical rules. glue: the score of an edge that is no
    rule of the grammar.
    """
    found = np.empty(forest.n_edges)
    cdef double[::1] scores = found
    cdef Py_ssize_t v, e
    cdef int32_t rule, state
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
