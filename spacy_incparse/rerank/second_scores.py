"""Models whose scores of candidates may stand beside those of the base parser."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite, log
from typing import Any, ClassVar

from spacy_incparse.chart.config import ChartConfig
from spacy_incparse.chart.parser import ChartParser
from spacy_incparse.errors import ModelError
from spacy_incparse.generative.kind import GenerativeConfig
from spacy_incparse.generative.parser import GenerativeParser
from spacy_incparse.training.settings import ParserRecipe
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

TEMPERATURE = 1.0  # of the chart: that of training, since the weights of the columns scale them anyway
LEAST = 1e-3  # the lowest probability that counts, and one minus the highest: the chart may lack what it pruned
CHART_PASSES, TAG_FOLDS = 3, 5


class SecondScore(ABC):
    """A model that gives each candidate of a list some numbers, each of which has a weight of its own.

    name: of the model, as in `rerank-train --with`. columns: the names of the numbers, as in files of lists.
    """

    name: ClassVar[str]
    columns: ClassVar[tuple[str, ...]]
    parser_type: ClassVar[Any]

    def __init__(self, parser: Any):
        self.parser = parser

    @classmethod
    @abstractmethod
    def train(cls, trees: Sequence[Tree], heads: HeadRules) -> SecondScore:
        """Return a model trained on normalized trees."""

    @abstractmethod
    def scores(self, trees: Sequence[Tree]) -> Mapping[str, Sequence[float]]:
        """Return for each column a finite number for each tree of a list, all over the same words."""

    def to_bytes(self) -> bytes:
        """Return the model as bytes."""
        return self.parser.to_bytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> SecondScore:
        """Return the model that `to_bytes` wrote. Raises ModelError for anything else."""
        return cls(cls.parser_type.from_bytes(data))


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
    parser_type = ChartParser

    @classmethod
    def train(cls, trees: Sequence[Tree], heads: HeadRules) -> ChartScore:
        """Train on jackknifed tags, one a word: those of candidates are as good, and there is no tagger to store."""
        recipe = ParserRecipe("chart", ChartConfig(n_tags=1), heads, n_tag_folds=TAG_FOLDS, n_passes=CHART_PASSES)
        return cls(recipe.train(trees).parser)

    def scores(self, trees: Sequence[Tree]) -> dict[str, list[float]]:
        """Return the scores of each tree of a list, all over the same words."""
        posterior = self.parser.posterior(trees[0].words, trees[0].tags, temperature=TEMPERATURE)
        if posterior is None:
            return {column: [0.0] * len(trees) for column in self.columns}
        n_expected, rows = sum(posterior.phrases.values()), []
        for tree in trees:
            found = [posterior.phrases.get(phrase, 0.0) for phrase in dict.fromkeys(tree.spans())]
            n_right, bounded = sum(found), [min(max(p, LEAST), 1 - LEAST) for p in found]
            odds = sum(log(p / (1 - p)) for p in bounded)
            rows.append((n_right, 200 * n_right / (len(found) + n_expected), odds))
        return dict(zip(self.columns, map(list, zip(*rows, strict=True)), strict=True))


class GenerativeScore(SecondScore):
    """The natural log probability of tree, tags and words by a generative model (Roark 2001).

    A tree to which the model gives no probability gets the lowest score of its list.
    """

    name = "generative"
    columns = ("generative",)
    parser_type = GenerativeParser

    @classmethod
    def train(cls, trees: Sequence[Tree], heads: HeadRules) -> GenerativeScore:
        """Count the events of the trees."""
        return cls(GenerativeParser.train(trees, GenerativeConfig(), heads))

    def scores(self, trees: Sequence[Tree]) -> dict[str, list[float]]:
        """Return the log probability of each tree of a list, all over the same words."""
        found = self.parser.log_probabilities(trees)
        lowest = min((score for score in found if score is not None and isfinite(score)), default=0.0)
        return {"generative": [lowest if score is None else max(score, lowest) for score in found]}


SECOND_SCORES: dict[str, type[SecondScore]] = {score.name: score for score in (GenerativeScore, ChartScore)}
"""All second scores, by name."""


def columns_of(names: Iterable[str]) -> list[str]:
    """Return the columns of second scores in order."""
    return [column for name in names for column in SECOND_SCORES[name].columns]


def read_second_scores(contents: dict[str, bytes]) -> dict[str, SecondScore]:
    """Return models from their bytes by name. Raises ModelError for another name or damaged bytes."""
    for name in contents:
        if name not in SECOND_SCORES:
            raise ModelError(f"the reranker has a score {name!r:.40} that this version does not know")
    return {name: SECOND_SCORES[name].from_bytes(data) for name, data in contents.items()}
