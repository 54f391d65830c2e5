"""A treebank made ready for training charts: one grammar's forests of sentences with gold tags, or with words only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from spacy_incparse.chart.charts import (
    Chart,
    ChartBuilder,
    ChartExample,
    ChartSentence,
    derived_tree,
    expected_f_scores,
)
from spacy_incparse.chart.forest import Forest
from spacy_incparse.chart.grammar import Grammar, count_rules
from spacy_incparse.chart.recurrences import EdgeLabels, marginals, viterbi
from spacy_incparse.linear.words import Lexicon
from spacy_incparse.papers.finkel_2008.system import BooleanPruner, relaxed
from spacy_incparse.papers.taskar_2004.features import Pcfg
from spacy_incparse.transforms.binarize import Markovization, markovize
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.labels import ROOT
from spacy_incparse.trees.tree import Tree

GOLD, WORDS = "gold", "words"  # what a parser is given
KEPT_EDGES = 200_000_000  # of charts in memory, with 12 bytes each; those of other sentences are built when needed
THRESHOLD = 0.4  # of the expected F

Scorer = Callable[[ChartSentence, Forest], np.ndarray]


class Examples(Sequence[ChartExample]):
    """The sentences of a lab with their forests, of which as many are kept as have room in memory."""

    def __init__(self, lab: Lab):
        self._lab, self._room, self._kept = lab, KEPT_EDGES, dict[int, ChartExample]()

    def __len__(self) -> int:
        return len(self._lab.trees)

    def __getitem__(self, number: int) -> ChartExample:  # type: ignore[override]
        if number not in range(len(self)):
            raise IndexError(f"there is no sentence {number} among {len(self)}")
        example = self._kept.get(number) or self._example(number)
        if number not in self._kept and self._room >= example.forest.n_edges:
            self._room -= example.forest.n_edges
            self._kept[number] = example
        return example

    def _example(self, number: int) -> ChartExample:
        sentence = self._lab.sentence(self._lab.trees[number])
        forest = self._lab.chart(sentence).forest
        return ChartExample(sentence, forest, forest.find(self._lab.grammar.steps(self._lab.markovized[number])))


class Lab:
    """Trees to train on, their grammar and their forests.

    kind: GOLD or WORDS. With words only, the exact prefilter leaves each word the tags that it was seen with, and rare
    words also those of words seen once. Features see no frequencies of tags: in training, these would include the
    sentence's own tags, and the most frequent one would be right more often than in new sentences.
    is_relaxed: whether rules may be used under parents with which they were not seen.
    """

    def __init__(
        self,
        trees: Sequence[Tree],
        settings: Markovization,
        heads: HeadRules,
        kind: str = GOLD,
        *,
        is_relaxed: bool = False,
    ):
        self.trees, self.settings, self.heads, self.kind = trees, settings, heads, kind
        self.markovized = [markovize(tree.arrays, settings, heads) for tree in trees]
        counts = count_rules(self.markovized)
        self.grammar = Grammar.from_counts(relaxed(counts) if is_relaxed else counts)
        self.builder = ChartBuilder(self.grammar)
        self.lexicon = Lexicon.from_sentences([tree.words for tree in trees], known_min_count=2)
        self.pcfg = Pcfg.estimate(self.markovized, self.grammar, self.lexicon)
        self._prefilter = BooleanPruner.train(trees, self.grammar)
        self._labels = EdgeLabels(self.grammar)

    def sentence(self, tree: Tree) -> ChartSentence:
        """Return what a parser is given of a tree."""
        return ChartSentence(tree.words, tree.tags if self.kind == GOLD else [None] * len(tree.words))

    def chart(self, sentence: ChartSentence) -> Chart:
        """Return the whole chart of a sentence: nothing is pruned but what is in no tree."""
        return self.builder.build(sentence.tags, (), self._prefilter.masks(sentence.tags, sentence.words))

    @cached_property
    def examples(self) -> Examples:
        """All sentences to train on."""
        return Examples(self)

    def parse(self, trees: Sequence[Tree], scorer: Scorer, temperature: float | None = None) -> tuple[list[Tree], int]:
        """Return the best tree of each sentence, and how many sentences have none under the grammar itself.

        temperature: for trees of the best expected F, what scores are divided by.
        """
        sentences = [self.sentence(tree) for tree in trees]
        n_relaxed = sum(self.chart(sentence).source != "chart" for sentence in sentences)
        return [self.tree(sentence, scorer, temperature) for sentence in sentences], n_relaxed

    def tree(self, sentence: ChartSentence, scorer: Scorer, temperature: float | None = None) -> Tree:
        """Return the best tree of a sentence."""
        forest = self.chart(sentence).forest
        scores = scorer(sentence, forest)
        if temperature is not None:
            scores = self._expected_f(forest, scores / temperature)
        _, edges = viterbi(forest, scores)
        return derived_tree(forest, edges, self.grammar, sentence.words, sentence.tags)

    def _expected_f(self, forest: Forest, scores: np.ndarray) -> np.ndarray:
        ignored = (self.grammar.labels.index(ROOT),)
        return expected_f_scores(forest, marginals(forest, scores), self._labels, THRESHOLD, ignored)
