"""Train the models of the scores that stand beside those of the base parser."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from spacy_incparse.chart.chart_config import ChartConfig
from spacy_incparse.chart.chart_parser import ChartParser
from spacy_incparse.generative.generative_config import GenerativeConfig
from spacy_incparse.generative.generative_parser import GenerativeParser
from spacy_incparse.rerank.chart_score import ChartScore
from spacy_incparse.rerank.generative_score import GenerativeScore
from spacy_incparse.rerank.second_score import SecondScore
from spacy_incparse.training.parser_recipe import ParserRecipe
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

CHART_PASSES = 3
TAG_FOLDS = 5


def train_second_score(name: str, trees: Sequence[Tree], heads: HeadRules) -> SecondScore:
    """Return a model of a name in `SECOND_SCORES`, trained on normalized trees."""
    return _TRAINERS[name](trees, heads)


def _generative(trees: Sequence[Tree], heads: HeadRules) -> GenerativeScore:
    return GenerativeScore(GenerativeParser.train(trees, GenerativeConfig(), heads))


def _chart(trees: Sequence[Tree], heads: HeadRules) -> ChartScore:
    """Train on jackknifed tags, one a word: those of candidates are as good, and there is no tagger to store."""
    recipe = ParserRecipe("chart", ChartConfig(n_tags=1), heads, n_tag_folds=TAG_FOLDS, n_passes=CHART_PASSES)
    return ChartScore(cast(ChartParser, recipe.train(trees).parser))


_TRAINERS: Mapping[str, Callable[[Sequence[Tree], HeadRules], SecondScore]] = {
    GenerativeScore.name: _generative,
    ChartScore.name: _chart,
}
