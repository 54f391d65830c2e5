"""Scores of candidates by the probabilities that a chart parser gives their phrases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log

from spacy_incparse.chart.chart_parser import ChartParser
from spacy_incparse.rerank.second_score import SecondScore
from spacy_incparse.trees.arrays import Phrase
from spacy_incparse.trees.tree import Tree

TEMPERATURE = 1.0  # of the chart: that of training, since the weights of the columns scale them anyway
LEAST = 1e-3  # the lowest probability that counts, and one minus the highest: the chart may lack what it pruned


class ChartScore(SecondScore):
    """What the chart of all trees of a sentence says of its candidates (Goodman 1996; Hall, Durrett & Klein 2014).

    chart-right: the expected number of a tree's phrases that are right, the sum of their probabilities.
    chart-expected-f: the tree's expected F in percent, 200 times this number / (phrases of the tree + sum of the
        probabilities of all phrases of the chart).
    chart-odds: the sum of its phrases' log odds log(p / (1 - p)). Up to a constant of the sentence, this is the log
        probability of the tree if each phrase were there or not whatever the others.

    A tree that is not in the chart has these scores, too: phrases that it lacks have the lowest probability that
    counts. The chart is that of the first tree's tags. Where there is none, as for sentences of more words than
    `ChartParser.max_words`, all scores are 0.
    """

    name = "chart"
    columns = ("chart-right", "chart-expected-f", "chart-odds")

    def __init__(self, parser: ChartParser):
        self.parser = parser

    def scores(self, trees: Sequence[Tree]) -> dict[str, list[float]]:
        """Return the scores of each tree of a list, all over the same words."""
        posterior = self.parser.posterior(trees[0].words, trees[0].tags, temperature=TEMPERATURE)
        if posterior is None:
            return {column: [0.0] * len(trees) for column in self.columns}
        n_expected = sum(posterior.phrases.values())
        rows = [_scores(tree.spans(), posterior.phrases, n_expected) for tree in trees]
        return dict(zip(self.columns, map(list, zip(*rows, strict=True)), strict=True))

    def to_bytes(self) -> bytes:
        """Return the model as bytes."""
        return self.parser.to_bytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> ChartScore:
        """Return the model that `to_bytes` wrote. Raises ModelError for anything else."""
        return cls(ChartParser.from_bytes(data))


def _scores(phrases: Sequence[Phrase], known: Mapping[Phrase, float], n_expected: float) -> tuple[float, float, float]:
    """Return the columns of a tree. known: the probabilities of phrases. n_expected: their sum."""
    found = [known.get(phrase, 0.0) for phrase in dict.fromkeys(phrases)]
    n_right = sum(found)
    bounded = [min(max(p, LEAST), 1 - LEAST) for p in found]
    return n_right, 200 * n_right / (len(found) + n_expected), sum(log(p / (1 - p)) for p in bounded)
