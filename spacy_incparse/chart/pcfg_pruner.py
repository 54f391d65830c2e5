"""Coarse-to-fine pruning: what a small grammar finds improbable is left out of the chart of a large one.

The small, coarse grammar has the same trees without the context in their labels, so that each state of the large one
has a coarse state (Charniak et al. 2006; Petrov & Klein 2007, section 2).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import exp

import numpy as np

from spacy_incparse.chart.coarse_pass import CoarsePass
from spacy_incparse.chart.grammar import Grammar, Step
from spacy_incparse.chart.pcfg import Pcfg
from spacy_incparse.chart.pruner import coarse_ends
from spacy_incparse.chart.span_numbers import span_number
from spacy_incparse.parsing.parse import Tags
from spacy_incparse.transforms.markovize import Markovization

THRESHOLDS = (1e-4, 1e-6)
BEAM, FLOOR = 1e-3, 1e-5  # of the coarse pass


def coarse(settings: Markovization) -> Markovization:
    """Return the settings of the coarse grammar: same branching, no context, unary chains as rules."""
    return replace(
        settings,
        horizontal=0,
        anchor=False,
        vertical=0,
        annotate_tags=False,
        head_tag_labels=(),
        collapse_unaries=False,
    )


class Pruner:
    """Computes masks for `ChartBuilder.build` from the posteriors of a coarse grammar.

    model: of a grammar of trees markovized with `coarse(settings)`. fine: the grammar whose charts are pruned.
    thresholds: the posterior below which a state is left out, and lower ones for charts in which nothing is left.
    """

    def __init__(
        self,
        model: Pcfg,
        fine: Grammar,
        *,
        thresholds: Sequence[float] = THRESHOLDS,
        beam: float = BEAM,
        floor: float = FLOOR,
    ):
        self.model, self.fine, self.thresholds = model, fine, thresholds
        self._pass = CoarsePass(model, _word_scale(model), beam, floor)
        ids = {name: number for number, name in enumerate(model.grammar.states)}
        ends = [coarse_ends(name) for name in fine.states]
        self._highest = np.array([ids.get(highest, -1) for highest, _ in ends])
        self._lowest = np.array([ids.get(lowest, -1) for _, lowest in ends])
        self._is_chain = self._highest != self._lowest

    def masks(self, tags: Tags, words: Sequence[str] | None = None, gold: Iterable[Step] = ()) -> list[np.ndarray]:
        """Return a mask for each threshold: uint8 (n_spans, n_states); none if the sentence is too improbable.

        words: needed if the coarse model was estimated with a lexicon and chooses tags. gold: rules of the fine grammar
        whose states are never left out.
        """
        lexical = [self.model.grammar.lexical_rules(tag) for tag in tags]
        scores = None
        if self.model.words is not None and words:
            scores = self.model.words.of_sentence(words)
            scores -= scores.max(axis=1, keepdims=True)  # a constant of each word changes no posterior: no overflow
        found = self._pass.posteriors(lexical, scores)
        kept = [(span_number(step.start, step.end), step.rule.parent) for step in gold if step.rule.parent]
        masks = [] if found is None else [self._mask(found[0], found[1], threshold) for threshold in self.thresholds]
        for mask in masks:
            for span, state in kept:
                mask[span, self.fine.state_ids[state]] = 1
        return masks

    def _mask(self, bases: np.ndarray, tops: np.ndarray, threshold: float) -> np.ndarray:
        bases, tops = (np.pad(table >= threshold, ((0, 0), (0, 1))) for table in (bases, tops))  # -1: no coarse state
        either = tops[:, self._highest] | bases[:, self._lowest]
        both = tops[:, self._highest] & bases[:, self._lowest]
        return np.where(self._is_chain, both, either).astype(np.uint8, order="C")


def _word_scale(model: Pcfg) -> float:
    """Return the factor for each word with which probabilities of sentences of the treebank do not vanish.

    It is one over the geometric mean, over all words, of the probability of a tree's rules per word.
    """
    grammar = model.grammar
    total = float(grammar.counts @ model.rules)
    n_words = grammar.counts[grammar.first_lexical : grammar.first_root].sum()
    return exp(min(-total / max(n_words, 1), 50.0))
