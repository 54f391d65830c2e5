"""The two auxiliary classifiers of LEXICAL+AUX (Taskar et al. 2004, section 6): which spans each takes for phrases."""

from __future__ import annotations

from chart_lab import Lab

from spacy_incparse.chart.charts import ChartSentence
from spacy_incparse.papers.taskar_2004.features import ConstituentClassifier, Predictions, phrase_spans


class Predictor:
    """The generative grammar's trees, and the flat classifier, both learned from a lab's trees."""

    def __init__(self, lab: Lab):
        self._lab = lab
        self._flat = ConstituentClassifier.train(lab.trees)

    def of(self, sentence: ChartSentence) -> Predictions:
        """Return the spans that each takes for phrases; the flat classifier sees the tags of the grammar's tree."""
        found = self._lab.tree(sentence, lambda _, forest: self._lab.pcfg.scores(forest, sentence.words))
        return {"generative": phrase_spans(found), "flat": self._flat.phrases(sentence.words, found.tags)}


def jackknifed(lab: Lab) -> list[Predictions]:
    """Return predictions for a lab's sentences, those of each half by classifiers that learned from the other."""
    found: list[Predictions] = [{} for _ in lab.trees]
    for half in (0, 1):
        other = Lab(lab.trees[1 - half :: 2], lab.settings, lab.heads, lab.kind)
        predictor = Predictor(other)
        for number in range(half, len(lab.trees), 2):
            found[number] = predictor.of(other.sentence(lab.trees[number]))
    return found
