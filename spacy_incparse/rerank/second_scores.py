"""All models whose scores of candidates may stand beside those of the base parser."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite, log
from typing import ClassVar

from spacy_incparse.chart.parser import ChartParser
from spacy_incparse.errors import ModelError
from spacy_incparse.generative.parser import GenerativeParser
from spacy_incparse.trees.arrays import Phrase
from spacy_incparse.trees.tree import Tree


class SecondScore(ABC):
    """A model that gives each candidate of a list some numbers, each of which has a weight of its own.

    name: of the model, as in `rerank-train --with`. columns: the names of the numbers, as in files of lists.
    """

    name: ClassVar[str]
    columns: ClassVar[tuple[str, ...]]

    @abstractmethod
    def scores(self, trees: Sequence[Tree]) -> Mapping[str, Sequence[float]]:
        """Return for each column a finite number for each tree of a list, all over the same words."""

    @abstractmethod
    def to_bytes(self) -> bytes:
        """Return the model as bytes."""

    @classmethod
    @abstractmethod
    def from_bytes(cls, data: bytes) -> SecondScore:
        """Return the model that `to_bytes` wrote. Raises ModelError for anything else."""


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


class GenerativeScore(SecondScore):
    """The natural log probability of tree, tags and words by a generative model (Roark 2001).

    A tree to which the model gives no probability gets the lowest score of its list.
    """

    name = "generative"
    columns = ("generative",)

    def __init__(self, parser: GenerativeParser):
        self.parser = parser

    def scores(self, trees: Sequence[Tree]) -> dict[str, list[float]]:
        """Return the log probability of each tree of a list, all over the same words."""
        found = self.parser.log_probabilities(trees)
        lowest = min((score for score in found if score is not None and isfinite(score)), default=0.0)
        return {"generative": [lowest if score is None else max(score, lowest) for score in found]}

    def to_bytes(self) -> bytes:
        """Return the model as bytes."""
        return self.parser.to_bytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> GenerativeScore:
        """Return the model that `to_bytes` wrote. Raises ModelError for anything else."""
        return cls(GenerativeParser.from_bytes(data))


SECOND_SCORES: dict[str, type[SecondScore]] = {score.name: score for score in (GenerativeScore, ChartScore)}
"""All second scores, by name."""


def columns_of(names: Iterable[str]) -> list[str]:
    """Return the columns of second scores in order."""
    return [column for name in names for column in SECOND_SCORES[name].columns]


def name_of(column: str) -> str:
    """Return the name of the second score that a column belongs to; the column's own if there is none."""
    return next((name for name, score in SECOND_SCORES.items() if column in score.columns), column)


def read_second_scores(contents: dict[str, bytes]) -> dict[str, SecondScore]:
    """Return models from their bytes by name. Raises ModelError for another name or damaged bytes."""
    for name in contents:
        if name not in SECOND_SCORES:
            raise ModelError(f"the reranker has a score {name!r:.40} that this version does not know")
    return {name: SECOND_SCORES[name].from_bytes(data) for name, data in contents.items()}


TEMPERATURE = 1.0  # of the chart: that of training, since the weights of the columns scale them anyway
LEAST = 1e-3  # the lowest probability that counts, and one minus the highest: the chart may lack what it pruned


def _scores(phrases: Sequence[Phrase], known: Mapping[Phrase, float], n_expected: float) -> tuple[float, float, float]:
    """Return the columns of a tree. known: the probabilities of phrases. n_expected: their sum."""
    found = [known.get(phrase, 0.0) for phrase in dict.fromkeys(phrases)]
    n_right = sum(found)
    bounded = [min(max(p, LEAST), 1 - LEAST) for p in found]
    return n_right, 200 * n_right / (len(found) + n_expected), sum(log(p / (1 - p)) for p in bounded)
