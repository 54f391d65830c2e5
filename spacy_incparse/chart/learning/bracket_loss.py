"""How wrong a tree is, as a sum over its edges: what max-margin training adds to the scores of wrong trees."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from spacy_incparse.chart.chart_sentence import ChartExample
from spacy_incparse.chart.forests.forest import Forest
from spacy_incparse.chart.grammar.grammar import WRAP, Grammar
from spacy_incparse.trees.labels import ROOT


class BracketLoss:
    """The number of brackets in which a tree differs from the gold tree, times a weight for each kind of error.

    A wrong bracket is one that the gold tree lacks. Missing ones are not in the forest's tree, so they are counted as
    all gold brackets, a constant, minus a credit for each that is found. A bracket that a tree has twice counts twice.

    symbols: for each rule of the grammar, then for each state, what a rule with that number, or WRAP with that state,
    makes over its words.
    """

    def __init__(self, symbols: Sequence[Sequence[Hashable]], n_rules: int, wrong: float = 1.0, missing: float = 1.0):
        self.wrong, self.missing = wrong, missing
        self._n_rules = n_rules
        ids: dict[Hashable, int] = {}
        width = max(map(len, symbols), default=0)
        self._table = np.full((len(symbols) + 1, width), -1, np.int64)  # the last row is that of what makes nothing
        for row, names in enumerate(symbols):
            self._table[row, : len(names)] = [ids.setdefault(name, len(ids)) for name in names]

    @classmethod
    def binarized(cls, grammar: Grammar, wrong: float = 1.0, missing: float | None = None) -> BracketLoss:
        """Return the loss over the nodes of the binary tree, active states included (Taskar et al. 2004, section 3).

        missing: None for the paper's loss. Without unary rules, all trees of a sentence have equally many nodes, and as
            many are wrong as missing: it is 0, since wrong ones say it all. With unary rules, it is 1.
        """
        if missing is None:
            missing = 1.0 if len(grammar.unary) else 0.0
        states = [[name] for name in grammar.states]
        rules = [[rule.parent, *rule.chain] if rule.parent else [] for rule in grammar.rules]
        return cls([*rules, *states], grammar.n_rules, wrong, missing)

    @classmethod
    def unbinarized(cls, grammar: Grammar, wrong: float = 1.0, missing: float = 1.0) -> BracketLoss:
        """Return the loss over the phrases of the tree itself, without the root and the tags of words."""
        root = grammar.labels.index(ROOT)
        phrases = [[label for label in labels if label != root] for labels in grammar.rule_labels]
        return cls([*phrases, *grammar.state_labels], grammar.n_rules, wrong, missing)

    def __call__(self, example: ChartExample) -> np.ndarray:
        """Return the loss of each edge of an example's forest, as `CrfLearner` takes it (softmax-margin)."""
        return self.of_edges(example.forest, example.gold)[0]

    def of_edges(self, forest: Forest, gold: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the loss of each edge, float64 (n_edges,), and the constant: a tree's loss is the sum of both.

        gold: the edges of the gold tree.
        """
        keys = self._brackets(forest)
        gold_keys = keys[gold]
        n_gold = int((gold_keys >= 0).sum())
        is_gold = np.isin(keys, gold_keys[gold_keys >= 0])
        losses = np.where(is_gold, -self.missing, self.wrong) * (keys >= 0)
        return losses.sum(axis=1), self.missing * n_gold

    def _brackets(self, forest: Forest) -> np.ndarray:
        """Return the brackets that each edge makes, as numbers; -1 for none: int64 (n_edges, width)."""
        rules, starts, _, ends = forest.edge_array().astype(np.int64).T
        rows = np.where(rules >= 0, rules, np.where(rules <= WRAP, self._n_rules + WRAP - rules, -1))
        symbols = self._table[rows]
        places = starts * (forest.n_words + 1) + ends
        return np.where(symbols >= 0, symbols * (forest.n_words + 1) ** 2 + places[:, None], -1)
