"""Coarse-to-fine pruning by classifiers that look at one span at a time, without a chart.

Roark & Hollingshead (2008) close the cells of a chart by classifiers of words, Bodenstab et al. (2011) by classifiers
of spans. Here a gate and the posteriors of trees without labels say which spans have a node at all, and one classifier
for each label without context says what it is.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from math import log
from typing import Any, cast

import numpy as np
import srsly

from spacy_incparse.chart.grammar import TAG_MARK, Grammar, Step, tree_steps
from spacy_incparse.chart.pruner_scorer import PrunerLearner, PrunerScorer
from spacy_incparse.chart.rule_tables import SpanStates
from spacy_incparse.chart.sentence import span_number
from spacy_incparse.errors import ModelError
from spacy_incparse.integer_arrays import pack, unpack
from spacy_incparse.linear.words import Lexicon
from spacy_incparse.parsing.parse import Tags, best_tag
from spacy_incparse.transforms.markovize import ACTIVE, label_parts, passive_label
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
    """Chooses the states that are worth a look over each span."""

    def __init__(self, grammar: Grammar, lexicon: Lexicon, settings: SpanClassifierSettings):
        self.labels, self.lexicon, self.settings = SpanLabels(grammar), lexicon, settings
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
        lexicon = Lexicon.from_sentences([arrays.words for arrays in trees])
        found = cls(grammar, lexicon, settings or SpanClassifierSettings())
        examples = [
            (found._codes(arrays.words, row), found.labels.of_steps(tree_steps(arrays)))
            for arrays, row in zip(trees, tags, strict=True)
        ]
        settings = found.settings
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

    def masks(self, tags: Tags, words: Sequence[str] | None = None, gold: Iterable[Step] = ()) -> Sequence[SpanStates]:
        """Return a mask for each threshold; see `SpanPruner`."""
        if not tags:
            return ()
        ids = self.labels.grammar.state_ids
        kept = [(span_number(step.start, step.end), ids[step.rule.parent]) for step in gold if step.rule.parent in ids]
        rows = np.array(sorted(set(kept)), np.int32).reshape(-1, 2)
        codes = self._codes(words, tags)
        thresholds = [threshold * min(1, len(tags) / FULL_LENGTH) for threshold in self.settings.thresholds]
        return LazyMasks(len(thresholds), lambda k: self._mask(codes, rows, thresholds[k]))

    def _mask(self, codes: np.ndarray, kept: np.ndarray, threshold: float) -> SpanStates:
        self._scorer.look(codes, _log_odds(min(GATE_RATIO * threshold, LEAST_GATE)))
        return cast("SpanStates", self._scorer.states_left(threshold, kept))

    def to_bytes(self) -> bytes:
        """Return the classifier as bytes, without the grammar."""
        content = {
            "settings": asdict(self.settings),
            "labels": list(self.labels.names),
            "lexicon": self.lexicon.to_dict(),
            "weights": [pack(np.rint(table * SCALE).astype(np.int16)) for table in self._scorer.weights()],
        }
        return srsly.msgpack_dumps(content)

    @classmethod
    def from_bytes(cls, data: bytes, grammar: Grammar) -> SpanClassifier:
        """Return the classifier that `to_bytes` wrote. Raises ModelError for other bytes, or another grammar's."""
        try:
            content = srsly.msgpack_loads(data)
            stored = content["settings"]
            settings = SpanClassifierSettings(**stored | {"thresholds": tuple(map(float, stored["thresholds"]))})
            found = cls(grammar, Lexicon.from_dict(content["lexicon"]), settings)
            if tuple(content["labels"]) != found.labels.names:
                raise ModelError("it belongs to another grammar, whose labels are others")
            sizes = 2**settings.gate_bits, 2**settings.tree_bits, len(found.labels.names) << settings.label_bits
            tables = [
                unpack(table, "i2", "its weights", size).astype(np.float32) / np.float32(SCALE)
                for table, size in zip(content["weights"], sizes, strict=True)
            ]
            found._scorer.load_weights(*tables)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ModelError(f"the span classifier of the model is damaged: {error}") from None
        return found

    @property
    def _table_sizes(self) -> tuple[Any, ...]:
        labels, settings = self.labels, self.settings
        bits = settings.gate_bits, settings.tree_bits, settings.label_bits
        return (len(labels.names), labels.highest, labels.lowest, *bits)

    def _priors(self, examples: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
        """Return the log odds of each label over spans with a node of several words, and over single words."""
        counts, totals = np.full((2, len(self.labels.names)), 0.5), np.ones((2, 1))
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


class LazyMasks(Sequence[SpanStates]):
    """A sequence of `n_masks` masks; `compute` returns one by its index."""

    def __init__(self, n_masks: int, compute: Callable[[int], SpanStates]):
        self._masks: list[SpanStates | None] = [None] * n_masks
        self._compute = compute

    def __len__(self) -> int:
        return len(self._masks)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            places = range(len(self))[index]
            return LazyMasks(len(places), lambda k: self[places[k]])
        found = self._masks[index]
        if found is None:
            found = self._masks[index] = self._compute(range(len(self))[index])
        return found


NONE = -1


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


class SpanLabels:
    """The states of a grammar without their context, numbered; those of POS nodes are none of them.

    highest, lowest: for each state of the grammar, the label of the top and the bottom of the chain that it stands for,
    or -1.
    """

    def __init__(self, grammar: Grammar):
        self.grammar = grammar
        ends = [_coarse_ends(state) for state in grammar.states]
        self.names = tuple(sorted({name for pair in ends for name in pair if not name.startswith(TAG_MARK)}))
        ids = {name: number for number, name in enumerate(self.names)}
        self.highest = np.array([ids.get(highest, NONE) for highest, _ in ends], np.int32)
        self.lowest = np.array([ids.get(lowest, NONE) for _, lowest in ends], np.int32)

    def of_steps(self, steps: Iterable[Step]) -> np.ndarray:
        """Return the labels of a tree: rows of span and label, sorted, int32 (n, 2).

        Spans of several words that have a node are among them whether they have a label or not.
        """
        ids = self.grammar.state_ids
        known = [
            (ids[step.rule.parent], span_number(step.start, step.end)) for step in steps if step.rule.parent in ids
        ]
        found = {(span, int(labels[state])) for state, span in known for labels in (self.highest, self.lowest)}
        return np.array(sorted(row for row in found if row[1] != NONE), np.int32).reshape(-1, 2)
