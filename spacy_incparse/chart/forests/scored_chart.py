"""The chart of a sentence with the scores of its edges: its best trees, and probabilities of trees and phrases."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np

from spacy_incparse.chart.chart_sentence import ChartSentence
from spacy_incparse.chart.forests.charts import Chart
from spacy_incparse.chart.forests.decoding import expected_f_scores, max_rule_scores, phrase_probabilities
from spacy_incparse.chart.forests.derived_trees import derived_tree
from spacy_incparse.chart.forests.edge_labels import EdgeLabels
from spacy_incparse.chart.forests.kbest import KBest
from spacy_incparse.chart.forests.recurrences import log_partition, marginals, viterbi
from spacy_incparse.chart.grammar.grammar import Grammar
from spacy_incparse.parsers.parse import Parse
from spacy_incparse.parsers.posterior import Posterior
from spacy_incparse.trees.labels import ROOT

MORE_DERIVATIONS = 5  # how many derivations of each tree are looked at, if trees have several


@dataclass(frozen=True)
class ScoredChart:
    """A chart that is not empty, and the score of each of its edges, float64.

    Scores of trees are natural log probabilities given the sentence: a tree's sum of edge scores minus log Z.
    """

    sentence: ChartSentence
    chart: Chart
    scores: np.ndarray
    grammar: Grammar
    labels: EdgeLabels

    @cached_property
    def log_total(self) -> float:
        """log Z: the log of the sum of exp(score) over all trees."""
        return log_partition(self.chart.forest, self.scores)

    def best(self, decoding: str, threshold: float, temperature: float) -> Parse:
        """Return the tree that a decoding chooses; threshold and temperature as in `ChartConfig`."""
        forest = self.chart.forest
        if decoding == "viterbi":
            score, edges = viterbi(forest, self.scores)
            return self._parse(edges, score)
        probabilities = self.marginals(temperature)
        if decoding == "max_rule":
            choice = max_rule_scores(probabilities)
        else:
            choice = expected_f_scores(
                forest, probabilities, self.labels, threshold, (self.grammar.labels.index(ROOT),)
            )
        _, edges = viterbi(forest, choice)
        return self._parse(edges, self.sum_of(edges))

    def nbest(self, k: int) -> list[Parse]:
        """Return up to k different trees, best first."""
        parses: dict[tuple, Parse] = {}
        for score, edges in islice(KBest(self.chart.forest, self.scores), MORE_DERIVATIONS * k):
            parse = self._parse(edges, score)
            parses.setdefault((parse.tree.arrays.labels, parse.tree.arrays.sizes), parse)
            if len(parses) == k:
                break
        return list(parses.values())

    def posterior(self, temperature: float) -> Posterior:
        """Return the probabilities of trees and phrases, if the scores of trees are divided by a temperature."""
        phrases = phrase_probabilities(self.chart.forest, self.marginals(temperature), self.labels, self.grammar.labels)
        log_total = log_partition(self.chart.forest, self.scores / temperature) if temperature != 1 else self.log_total
        return Posterior(temperature, log_total - self.log_total / temperature, phrases)

    def marginals(self, temperature: float) -> np.ndarray:
        """Return the probability of each edge, if the scores of trees are divided by a temperature."""
        return marginals(self.chart.forest, self.scores / temperature if temperature != 1 else self.scores)

    def sum_of(self, edges: np.ndarray) -> float:
        """Return the sum of the scores of edges in pre-order, added as Viterbi does, and so with the same rounding."""
        _, n_children = self.chart.forest.rules_of(edges).T
        sums: list[float] = []
        for score, n in zip(self.scores[edges][::-1].tolist(), n_children[::-1].tolist(), strict=True):
            for _ in range(n):
                score += sums.pop()
            sums.append(score)
        return sums[0]

    def log_probability(self, score: float) -> float:
        """Return the log probability of a tree with this sum of edge scores; 0 at most, whatever the rounding."""
        return min(score - self.log_total, 0.0)

    def _parse(self, edges: np.ndarray, score: float) -> Parse:
        words, tags = self.sentence.words, self.sentence.tags
        tree = derived_tree(self.chart.forest, edges, self.grammar, words, tags)
        return Parse(tree, self.log_probability(score), self.chart.source, self.chart.unmet)
