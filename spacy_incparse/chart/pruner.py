"""Coarse-to-fine pruning by classifiers that look at one span at a time, without a chart."""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from math import log
from typing import Any

import numpy as np
import srsly

from spacy_incparse.chart.charts import span_number
from spacy_incparse.chart.forest_builder import SpanStates
from spacy_incparse.chart.grammar import TAG_MARK, Grammar, Step, tree_steps
from spacy_incparse.chart.pruner_scorer import PrunerLearner, PrunerScorer
from spacy_incparse.errors import ModelError, damaged
from spacy_incparse.integer_arrays import pack, unpack
from spacy_incparse.linear.words import Lexicon
from spacy_incparse.parsing.parse import Tags, best_tag
from spacy_incparse.transforms.binarize import ACTIVE, label_parts, passive_label
from spacy_incparse.trees.arrays import TreeArrays

PRUNING_THRESHOLDS = (1.2e-5, 1.2e-6)
LEARNED_GATE = 3e-3  # the probability, according to the gate, below which trees are not learned from a span
# The same when charts are pruned, and this times the threshold if that is less. It is lower, because the gate is too
# sure of sentences that it has not seen: 3e-3 costs more oracle F than the thresholds.
LEAST_GATE, GATE_RATIO = 3e-4, 10
FULL_LENGTH = 40  # words from which on thresholds hold; those of shorter sentences, whose charts are small, are lower
SCALE = 256  # weights are stored as multiples of 1 / SCALE


@dataclass(frozen=True)
class SpanClassifierSettings:
    """How span classifiers are trained, and what they leave out.

    tree_step, label_step: AdaGrad's steps. gate_bits, tree_bits, label_bits: tables have 2**bits features.
    thresholds: the probability below which a state is left out, and lower ones for charts in which nothing is left; in
        sentences of fewer than `FULL_LENGTH` words, they are lower in proportion.
    """

    n_epochs: int = 4
    tree_step: float = 0.03
    label_step: float = 0.1
    gate_bits: int = 16
    tree_bits: int = 20
    label_bits: int = 17
    thresholds: tuple[float, ...] = PRUNING_THRESHOLDS


class SpanClassifier:
    """Chooses the states that are worth a look over each span.

    labels: the states of the grammar without their context; those of POS nodes are none of them.

    Roark & Hollingshead (2008) close the cells of a chart by classifiers of words, Bodenstab et al. (2011) by
    classifiers of spans. Here a gate and the posteriors of trees without labels say which spans have a node at all, and
    one classifier for each label without context says what it is.
    """

    def __init__(self, grammar: Grammar, lexicon: Lexicon, settings: SpanClassifierSettings):
        self.grammar, self.lexicon, self.settings = grammar, lexicon, settings
        ends = [_coarse_ends(state) for state in grammar.states]
        self.labels = tuple(sorted({name for pair in ends for name in pair if not name.startswith(TAG_MARK)}))
        ids = {name: number for number, name in enumerate(self.labels)}
        # The label of the top and the bottom of the chain that each state stands for, or -1.
        self._ends = np.array([[ids.get(name, -1) for name in pair] for pair in ends], np.int32).reshape(-1, 2).T
        bits = settings.gate_bits, settings.tree_bits, settings.label_bits
        self._table_sizes: tuple[Any, ...] = (len(self.labels), *self._ends, *bits)
        self._scorer = PrunerScorer(*self._table_sizes)

    @classmethod
    def train(
        cls,
        trees: Sequence[TreeArrays],
        tags: Sequence[Tags],
        grammar: Grammar,
        settings: SpanClassifierSettings | None = None,
        seed: int = 0,
    ) -> SpanClassifier:
        """Return a classifier trained on markovized trees."""
        settings = settings or SpanClassifierSettings()
        found = cls(grammar, Lexicon.from_sentences([arrays.words for arrays in trees]), settings)
        examples = [
            (found._codes(arrays.words, row), found._gold_labels(tree_steps(arrays)))
            for arrays, row in zip(trees, tags, strict=True)
        ]
        learner = PrunerLearner(*found._table_sizes, tree_step=settings.tree_step, label_step=settings.label_step)
        learner.start(-2, *found._priors(examples))
        order, shuffle = list(range(len(examples))), random.Random(seed).shuffle
        for _ in range(settings.n_epochs):
            shuffle(order)
            for number in order:
                learner.learn(*examples[number], _log_odds(LEARNED_GATE))
        most = 2**15 - 1
        tables = [np.rint(np.clip(table * SCALE, -most, most)) / SCALE for table in learner.weights()]
        found._scorer.load_weights(*(table.astype(np.float32) for table in tables))  # as they are stored
        return found

    def masks(
        self, tags: Tags, words: Sequence[str] | None = None, gold: Iterable[Step] = ()
    ) -> list[Callable[[], SpanStates]]:
        """Return a mask for each threshold, which is computed once it is called; see `ChartModel`."""
        if not tags:
            return []
        rows, codes = _rows_of((span, state) for state, span in self._states(gold)), self._codes(words, tags)

        def mask(threshold: float) -> SpanStates:
            least_gate = _log_odds(min(GATE_RATIO * threshold, LEAST_GATE))
            return self._scorer.states_left(codes, least_gate, threshold, rows)

        share = min(1, len(tags) / FULL_LENGTH)
        return [cache(partial(mask, threshold * share)) for threshold in self.settings.thresholds]

    def to_bytes(self) -> bytes:
        """Return the classifier as bytes, without the grammar."""
        content = {
            "settings": asdict(self.settings),
            "labels": list(self.labels),
            "lexicon": self.lexicon.to_dict(),
            "weights": [pack(np.rint(table * SCALE).astype(np.int16)) for table in self._scorer.weights()],
        }
        return srsly.msgpack_dumps(content)

    @classmethod
    def from_bytes(cls, data: bytes, grammar: Grammar) -> SpanClassifier:
        """Return the classifier that `to_bytes` wrote. Raises ModelError for other bytes, or another grammar's."""
        with damaged("the span classifier of the model is damaged"):
            content = srsly.msgpack_loads(data)
            stored = content["settings"]
            settings = SpanClassifierSettings(**stored | {"thresholds": tuple(map(float, stored["thresholds"]))})
            found = cls(grammar, Lexicon.from_dict(content["lexicon"]), settings)
            if tuple(content["labels"]) != found.labels:
                raise ModelError("it belongs to another grammar, whose labels are others")
            sizes = 2**settings.gate_bits, 2**settings.tree_bits, len(found.labels) << settings.label_bits
            tables = [
                unpack(table, "i2", "its weights", size).astype(np.float32) / np.float32(SCALE)
                for table, size in zip(content["weights"], sizes, strict=True)
            ]
            found._scorer.load_weights(*tables)
        return found

    def _states(self, steps: Iterable[Step]) -> list[tuple[int, int]]:
        """Return the state and the span of each step that makes one."""
        ids = self.grammar.state_ids
        return [(ids[step.rule.parent], span_number(step.start, step.end)) for step in steps if step.rule.parent in ids]

    def _gold_labels(self, steps: Iterable[Step]) -> np.ndarray:
        """Return the labels of a tree: rows of span and label, sorted, int32 (n, 2)."""
        found = ((span, int(label)) for state, span in self._states(steps) for label in self._ends[:, state])
        return _rows_of(row for row in found if row[1] >= 0)

    def _priors(self, examples: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
        """Return the log odds of each label over spans with a node of several words, and over single words."""
        counts, totals = np.full((2, len(self.labels)), 0.5), np.ones((2, 1))
        for codes, gold in examples:
            ends = np.arange(1, len(codes) + 1)
            is_word = np.isin(gold[:, 0], span_number(ends - 1, ends))
            for row, labels in enumerate((gold[~is_word, 1], gold[is_word, 1])):
                np.add.at(counts[row], labels, 1)
            totals += [[len(codes) - 1], [len(codes)]]
        odds = np.log(counts / (totals + 1 - counts)).astype(np.float32)
        return odds[0], odds[1]

    def _codes(self, words: Sequence[str] | None, tags: Tags) -> np.ndarray:
        numbers = self.lexicon.encode(words)[0] if words else [0] * len(tags)
        names = [zlib.crc32(best_tag(tag).encode("utf8", "surrogatepass")) or 1 for tag in tags]
        return np.array([names, numbers], np.uint32).T.copy()


def _log_odds(probability: float) -> float:
    return log(probability / (1 - probability)) if 0 < probability < 1 else (-1e30 if probability <= 0 else 1e30)


def _rows_of(pairs: Iterable[tuple[int, int]]) -> np.ndarray:
    """Return pairs as sorted rows without duplicates: int32 (n, 2)."""
    return np.array(sorted(set(pairs)), np.int32).reshape(-1, 2)


def _coarse_ends(state: str) -> tuple[str, str]:
    """Return the states without context of the top and the bottom of the chain that a state stands for."""
    parts = label_parts(state.removeprefix(TAG_MARK))
    highest, lowest = (passive_label([parts.categories[k]]) for k in (0, -1))
    if state.startswith(TAG_MARK):
        return (TAG_MARK + highest if len(parts.categories) == 1 else highest), TAG_MARK + lowest
    if parts.is_active:
        side = state.partition(ACTIVE)[2].partition("<")[0]
        return (f"{lowest}{ACTIVE}{side}<>",) * 2
    return highest, lowest
