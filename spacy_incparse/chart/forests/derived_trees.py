"""The tree that a derivation stands for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spacy_incparse.chart.forests.forest import Forest
from spacy_incparse.chart.grammar.grammar import Grammar
from spacy_incparse.parsers.parse import Tag, Tags, best_tag
from spacy_incparse.trees.builder import TreeBuilder
from spacy_incparse.trees.tree import Tree


def derived_tree(forest: Forest, edges: np.ndarray, grammar: Grammar, words: Sequence[str], tags: Tags) -> Tree:
    """Return the tree with these edges, given in pre-order, in time linear in their number.

    tags: as they were given to build the forest. A word that has one keeps it, others get that of their lexical rule,
    or else the most frequent tag.
    """
    builder = TreeBuilder()
    open_phrases: list[tuple[int, int]] = []  # for each edge that is not complete: children to come, phrases it made
    n_words = 0
    for rule, n_children in forest.rules_of(edges).tolist():
        labels = grammar.labels_made(rule)
        for label in labels:
            builder.open(grammar.labels[label])
        open_phrases.append((n_children, len(labels)))
        if not n_children:
            builder.leaf(_tag(rule, tags[n_words], grammar), words[n_words])
            n_words += 1
        _close_complete(open_phrases, builder)
    return builder.finish()


def _close_complete(open_phrases: list[tuple[int, int]], builder: TreeBuilder) -> None:
    """Close the phrases of edges that have all their children."""
    while open_phrases and open_phrases[-1][0] == 0:
        _, n_phrases = open_phrases.pop()
        for _ in range(n_phrases):
            builder.close()
        if open_phrases:
            n_children, n_above = open_phrases[-1]
            open_phrases[-1] = n_children - 1, n_above


def _tag(rule: int, given: Tag, grammar: Grammar) -> str:
    if isinstance(given, str) or (given and rule < 0):
        return best_tag(given)
    if rule < 0:  # a word without a rule
        return grammar.commonest_tag
    return grammar.parts[grammar.lexical[rule - grammar.first_lexical]].categories[-1]
