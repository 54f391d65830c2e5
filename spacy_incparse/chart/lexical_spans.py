"""The features of Taskar et al. (2004, section 6): rules, words at the ends of spans, and predictions for spans.

BASIC has the rules alone, LEXICAL the words of spans too, LEXICAL+AUX also what other classifiers say of each span. The
score of a word under its tag is fixed. Features of a span fire if a phrase is over it, whatever its label.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from spacy_incparse.chart.forest import Forest
from spacy_incparse.chart.grammar import Grammar
from spacy_incparse.chart.sparse_features import FeatureNumbers, SparseFeatures
from spacy_incparse.trees.labels import ROOT

Span = tuple[int, int]
Feature = tuple[str, ...]

BEFORE, BEHIND = "<s>", "</s>"  # what stands in for words outside the sentence
SHORT = 3  # spans of at most this many words have features of their own


def span_words(words: Sequence[str], start: int, end: int) -> Iterator[Feature]:
    """Yield the features of the words in and around a span, each with its length if that is short."""
    n = end - start
    length = str(n) if n <= SHORT else ""
    first, last = words[start], words[end - 1]
    before = words[start - 1] if start else BEFORE
    behind = words[end] if end < len(words) else BEHIND
    yield ("first", first, length)
    yield ("before", before, length)
    yield ("last", last, length)
    yield ("behind", behind, length)
    yield ("before+first", before, first, length)
    yield ("last+behind", last, behind, length)
    if n == SHORT:
        yield ("second", words[start + 1], length)


class LexicalSpans:
    """Reads the features of sentences under one grammar.

    with_words: whether spans have features of their words; if not, this is BASIC. numbers: of the features behind those
    of rules; by default, none has one yet.
    """

    def __init__(self, grammar: Grammar, *, with_words: bool = True, numbers: FeatureNumbers | None = None):
        self.grammar, self.with_words = grammar, with_words
        self.numbers = FeatureNumbers(grammar.n_rules) if numbers is None else numbers
        root = grammar.labels.index(ROOT)
        self._makes_phrase = np.array([any(label != root for label in labels) for labels in grammar.rule_labels])

    def read(
        self, forest: Forest, words: Sequence[str], predictions: Mapping[str, Collection[Span]] | None = None
    ) -> SparseFeatures:
        """Return the features of a forest's edges; new ones get a number as long as `numbers` is open.

        predictions: the spans that each classifier takes for phrases.
        """
        rules, starts, _, ends = forest.edge_array().astype(np.int64).T
        is_lexical = (rules >= self.grammar.first_lexical) & (rules < self.grammar.first_root)
        own = np.where((rules >= 0) & ~is_lexical, rules, -1)
        if not self.with_words and not predictions:
            return SparseFeatures.of(own, np.full(len(own), -1), [])
        makes_phrase = (rules >= 0) & self._makes_phrase[np.maximum(rules, 0)]
        places = np.where(makes_phrase, starts * (len(words) + 1) + ends, -1)
        spans, groups = np.unique(places[makes_phrase], return_inverse=True)
        of_edges = np.full(len(own), -1)
        of_edges[makes_phrase] = groups
        pairs = (divmod(place, len(words) + 1) for place in spans.tolist())
        found = [self.numbers.of(self._of(words, start, end, predictions)) for start, end in pairs]
        return SparseFeatures.of(own, of_edges, found)

    def _of(
        self, words: Sequence[str], start: int, end: int, predictions: Mapping[str, Collection[Span]] | None
    ) -> Iterator[Feature]:
        if self.with_words:
            yield from span_words(words, start, end)
        for name, spans in (predictions or {}).items():
            yield ("predicted", name, str((start, end) in spans))
