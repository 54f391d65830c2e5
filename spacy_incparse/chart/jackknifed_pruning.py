"""Pruners of training sentences: each sentence is pruned by one that has not seen it.

A pruner that knows the sentence is too sure of it: it leaves out what it will not leave out of new sentences, and the
parser never learns to do without.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from spacy_incparse.chart.chart_config import ChartConfig
from spacy_incparse.chart.chart_sentence import SpanPruner
from spacy_incparse.chart.chart_storage import StoredPruner
from spacy_incparse.chart.grammar import Grammar, count_rules
from spacy_incparse.chart.pcfg import Pcfg
from spacy_incparse.chart.pruning import coarse
from spacy_incparse.chart.tree_rules import Rule
from spacy_incparse.learning.folds import fold_numbers
from spacy_incparse.lexicon.words import Lexicon
from spacy_incparse.transforms.markovize import markovize
from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree


class TrainingPruners:
    """The pruner of a parser, and those that prune its training sentences.

    final: trained on all trees.
    """

    def __init__(self, trees: Sequence[Tree], fine: Grammar, config: ChartConfig, heads: HeadRules):
        self._fine, self._config = fine, config
        settings = coarse(config.markovization)
        arrays = [markovize(tree.arrays, settings, heads) for tree in trees]
        n_folds = min(config.pruning_folds, len(trees))
        numbers = fold_numbers(trees, max(n_folds, 1))
        counts = [Counter[Rule]() for _ in range(max(n_folds, 1))]
        for tree, number in zip(arrays, numbers, strict=True):
            counts[number].update(count_rules([tree]))
        total = sum(counts, Counter[Rule]())
        self.final: SpanPruner = self._pruner(total, trees, arrays)
        self._folds: list[SpanPruner] = []
        self._numbers = {tree.words: number for tree, number in zip(trees, numbers, strict=True)}
        for fold in range(n_folds if n_folds > 1 else 0):
            others = [place for place, number in enumerate(numbers) if number != fold]
            self._folds.append(
                self._pruner(total - counts[fold], [trees[k] for k in others], [arrays[k] for k in others])
                if others
                else self.final
            )

    def of(self, words: Sequence[str]) -> SpanPruner:
        """Return the pruner that has not seen a training sentence; that of all trees for other sentences."""
        number = self._numbers.get(tuple(words))
        return self.final if number is None or not self._folds else self._folds[number]

    def _pruner(self, counts: Counter[Rule], trees: Sequence[Tree], arrays: Sequence[TreeArrays]) -> SpanPruner:
        lexicon = None
        if self._config.n_tags != 1:  # words choose among tags
            lexicon = Lexicon.from_sentences(
                (tree.words for tree in trees),
                known_min_count=self._config.known_min_count,
                common_min_count=self._config.common_min_count,
            )
        model = Pcfg.estimate(arrays if lexicon else [], Grammar.from_counts(counts), lexicon)
        return StoredPruner(model, self._fine, thresholds=self._config.pruning_thresholds)
