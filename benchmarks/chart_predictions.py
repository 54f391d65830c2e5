"""The two auxiliary classifiers of LEXICAL+AUX (Taskar et al. 2004, section 6): which spans each takes for phrases."""

from __future__ import annotations

from chart_lab import Lab

from spacy_incparse.chart.chart_sentence import ChartSentence
from spacy_incparse.chart.features.constituent_classifier import ConstituentClassifier, TaggedSpans
from spacy_incparse.chart.learning.span_predictions import Predictions, phrase_spans
from spacy_incparse.parsers.parse import Tags, best_tag


class Predictor:
    """The generative grammar's trees, and the flat classifier, both learned from a lab's trees."""

    def __init__(self, lab: Lab):
        self._lab = lab
        self._flat = ConstituentClassifier.train(
            [TaggedSpans(tree.words, _best(lab.sentence(tree).tags), phrase_spans(tree)) for tree in lab.trees]
        )

    def of(self, sentence: ChartSentence) -> Predictions:
        """Return the spans that each classifier takes for phrases."""
        found = self._lab.tree(sentence, lambda _, forest: self._lab.pcfg.scores(forest, sentence.words))
        return {"generative": phrase_spans(found), "flat": self._flat.phrases(sentence.words, _best(sentence.tags))}


def jackknifed(lab: Lab) -> list[Predictions]:
    """Return predictions for a lab's sentences, those of each half by classifiers that learned from the other."""
    found: list[Predictions] = [{} for _ in lab.trees]
    for half in (0, 1):
        other = Lab(lab.trees[1 - half :: 2], lab.settings, lab.heads, lab.kind)
        predictor = Predictor(other)
        for number in range(half, len(lab.trees), 2):
            found[number] = predictor.of(other.sentence(lab.trees[number]))
    return found


def _best(tags: Tags) -> list[str]:
    return [best_tag(tag) for tag in tags]
