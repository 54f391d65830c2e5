"""Pruners of training sentences: each sentence is pruned by one that has not seen it.

A pruner that knows the sentence is too sure of it: it leaves out what it will not leave out of new sentences, and the
parser never learns to do without.
"""

from __future__ import annotations

from collections.abc import Sequence

from spacy_incparse.chart.chart_config import ChartConfig
from spacy_incparse.chart.chart_sentence import SpanPruner
from spacy_incparse.chart.chart_storage import StoredPruner
from spacy_incparse.chart.grammar.grammar import Grammar
from spacy_incparse.chart.grammar.pcfg import Pcfg
from spacy_incparse.chart.pruning.boolean_pruner import BooleanPruner
from spacy_incparse.chart.pruning.pcfg_pruner import coarse
from spacy_incparse.chart.pruning.span_classifier import SpanClassifier, SpanClassifierSettings
from spacy_incparse.learning.folds import fold_numbers
from spacy_incparse.lexicon.words import Lexicon
from spacy_incparse.parsers.parse import Tags
from spacy_incparse.transforms.markovize import markovize
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree


class TrainingPruners:
    """The pruner of a parser, and those that prune its training sentences.

    trees: with the tags that the grammar has seen. tags: those that the parser is trained with. final: the pruner that
    is trained on all trees.
    """

    def __init__(
        self, trees: Sequence[Tree], tags: Sequence[Tags], fine: Grammar, config: ChartConfig, heads: HeadRules
    ):
        self._trees, self._tags, self._fine, self._config, self._heads = trees, tags, fine, config, heads
        self.final: SpanPruner = self._train(range(len(trees)))
        is_jackknifed = config.pruning_folds > 1 and config.pruner != "boolean"  # which is exact
        n_folds = min(config.pruning_folds, len(trees)) if is_jackknifed else 0
        numbers = fold_numbers(trees, max(n_folds, 1))
        self._numbers = {tree.words: number for tree, number in zip(trees, numbers, strict=True)}
        self._folds = [
            self._train([place for place, number in enumerate(numbers) if number != fold]) for fold in range(n_folds)
        ]

    def of(self, words: Sequence[str]) -> SpanPruner:
        """Return the pruner that has not seen a training sentence; that of all trees for other sentences."""
        number = self._numbers.get(tuple(words))
        return self.final if number is None or not self._folds else self._folds[number]

    def _train(self, places: Sequence[int]) -> SpanPruner:
        """Return a pruner trained on some of the trees; that of all trees if there are none."""
        if not places:
            return self.final
        trees, config = [self._trees[place] for place in places], self._config
        if config.pruner == "boolean":
            return BooleanPruner.train(trees, self._fine)
        if config.pruner == "pcfg":
            return self._grammar_pruner(trees)
        arrays = [markovize(tree.arrays, config.markovization, self._heads) for tree in trees]
        settings = SpanClassifierSettings(thresholds=tuple(config.pruning_thresholds))
        tags = [self._tags[place] for place in places]
        return SpanClassifier.train(arrays, tags, self._fine, settings)

    def _grammar_pruner(self, trees: Sequence[Tree]) -> SpanPruner:
        config, lexicon = self._config, None
        arrays = [markovize(tree.arrays, coarse(config.markovization), self._heads) for tree in trees]
        if config.n_tags != 1:  # words choose among tags
            counts = {"known_min_count": config.known_min_count, "common_min_count": config.common_min_count}
            lexicon = Lexicon.from_sentences((tree.words for tree in trees), **counts)
        model = Pcfg.estimate(arrays if lexicon else [], Grammar.from_trees(arrays), lexicon)
        return StoredPruner(model, self._fine, thresholds=config.pruning_thresholds)
