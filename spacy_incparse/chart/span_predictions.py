"""The two auxiliary classifiers of LEXICAL+AUX (Taskar et al. 2004, section 6): which spans each takes for phrases."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from spacy_incparse.chart.constituent_classifier import ConstituentClassifier, TaggedSpans
from spacy_incparse.chart.decoding import derived_tree
from spacy_incparse.chart.forest import Forest
from spacy_incparse.chart.grammar import Grammar, count_rules
from spacy_incparse.chart.lexical_spans import Span
from spacy_incparse.chart.pcfg import Pcfg
from spacy_incparse.chart.recurrences import viterbi
from spacy_incparse.chart.sentence import ChartSentence
from spacy_incparse.linear.words import Lexicon
from spacy_incparse.tagging.jackknife import fold_numbers
from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.labels import ROOT
from spacy_incparse.trees.tree import Tree

N_FOLDS = 2  # the paper's

Predictions = dict[str, Collection[Span]]
MakeLexicon = Callable[[Sequence[Tree]], Lexicon]


@dataclass(frozen=True)
class SpanPredictor:
    """The best tree of a probabilistic grammar, and the flat classifier of single spans."""

    pcfg: Pcfg
    flat: ConstituentClassifier

    @classmethod
    def train(
        cls, trees: Sequence[Tree], arrays: Sequence[TreeArrays], grammar: Grammar, lexicon: Lexicon
    ) -> SpanPredictor:
        """Learn from trees, markovized in `arrays`; the rules of the grammar that they lack are improbable."""
        counts = count_rules(arrays)
        counted = replace(grammar, counts=np.array([counts[rule] for rule in grammar.rules], np.int64))
        return cls(Pcfg.estimate(arrays, counted, lexicon), flat_classifier(trees))

    def of(self, sentence: ChartSentence, forest: Forest) -> Predictions:
        """Return the spans that each takes for phrases; the flat classifier sees the tags of the grammar's tree."""
        _, edges = viterbi(forest, self.pcfg.scores(forest, sentence.words))
        tree = derived_tree(forest, edges, self.pcfg.grammar, sentence.words, sentence.tags)
        return {"generative": phrase_spans(tree), "flat": self.flat.phrases(sentence.words, tree.tags)}


class JackknifedPredictors:
    """The predictor of all trees, and those of each half, which predict the phrases of the other half's sentences.

    pcfg: of all trees. arrays: the markovized trees.
    """

    def __init__(self, pcfg: Pcfg, trees: Sequence[Tree], arrays: Sequence[TreeArrays], make_lexicon: MakeLexicon):
        def train(places: Sequence[int]) -> SpanPredictor:
            chosen = [trees[place] for place in places]
            lexicon = make_lexicon(chosen)
            return SpanPredictor.train(chosen, [arrays[place] for place in places], pcfg.grammar, lexicon)

        numbers = fold_numbers(trees, N_FOLDS)
        self._numbers = {tree.words: number for tree, number in zip(trees, numbers, strict=True)}
        others = [[place for place, number in enumerate(numbers) if number != fold] for fold in range(N_FOLDS)]
        self.final = SpanPredictor(pcfg, flat_classifier(trees))
        self._folds = [train(places) if places else self.final for places in others]

    def of(self, sentence: ChartSentence, forest: Forest) -> Predictions:
        """Return the predictions for a training sentence by what has not seen it."""
        number = self._numbers.get(tuple(sentence.words))
        predictor = self.final if number is None else self._folds[number]
        return predictor.of(sentence, forest)


def flat_classifier(trees: Sequence[Tree]) -> ConstituentClassifier:
    """Return the classifier of single spans that trees and their tags teach."""
    return ConstituentClassifier.train([TaggedSpans(tree.words, tree.tags, phrase_spans(tree)) for tree in trees])


def phrase_spans(tree: Tree) -> frozenset[Span]:
    """Return the spans of a tree's phrases, without the root."""
    return frozenset((start, end) for label, start, end in tree.spans() if label != ROOT)
