"""Training a linear model as a conditional random field over trees (Finkel, Kleeman & Manning 2008)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np
import srsly

from spacy_incparse.chart.bound_features import BoundFeatures, LearningWeights
from spacy_incparse.chart.features import EdgeFeatures
from spacy_incparse.chart.forest import Forest
from spacy_incparse.chart.grammar import WRAP, Grammar
from spacy_incparse.chart.recurrences import inside, marginals
from spacy_incparse.chart.sentence import ChartExample, ChartSentence, EdgeModel
from spacy_incparse.chart.templates import parse_key
from spacy_incparse.errors import ConfigError, ModelError, check_texts
from spacy_incparse.integer_arrays import pack, unpack
from spacy_incparse.linear.clusters import Clusters
from spacy_incparse.linear.words import Lexicon
from spacy_incparse.parsing.parser import Convergence
from spacy_incparse.trees.labels import ROOT


@dataclass(frozen=True)
class CrfSettings:
    """How the weights follow the gradient.

    step: the size of the steps: of AdaGrad, or eta_0 of plain gradient ascent. damping: what AdaGrad adds to the sums
    of squared gradients, so that a weight's first steps are not the largest ones; 0: plain gradient ascent. l2: the
    strength of the prior l2 / 2 |w|^2 on the log likelihood of all examples. batch_size: the number of examples whose
    gradients are taken at the same weights. halved_after: the number of passes after which steps have half the size;
    0: they stay as they are.
    """

    step: float = 0.05
    damping: float = 1.0
    l2: float = 0.0
    batch_size: int = 1
    halved_after: float = 0


class EdgeLearner(ABC):
    """A model of edges in training."""

    needs_all: ClassVar[bool] = False
    """Whether all sentences are added before it learns from one; equal ones count once then."""
    temperature: ClassVar[float | None] = None
    """The temperature at which its scores are log probabilities; None if only held-out sentences tell."""

    @property
    def convergence(self) -> Convergence | None:
        """How far training is from its end; None if it has none."""
        return None

    def add(self, example: ChartExample) -> None:  # noqa: B027 (most learners take no note)
        """Take note of a sentence before it is learned from."""

    @abstractmethod
    def learn(self, example: ChartExample) -> int:
        """Learn from a sentence; return the number of updates."""

    def finish_batch(self) -> int:
        """Learn from what waits for others at the end of a pass; return the number of updates."""
        return 0

    @abstractmethod
    def model(self) -> EdgeModel:
        """Return the model learned so far."""

    @abstractmethod
    def state_to_bytes(self) -> bytes:
        """Return everything that training changes."""

    @abstractmethod
    def state_from_bytes(self, data: bytes) -> None:
        """Restore what `state_to_bytes` returned. Raises ModelError for anything else."""


class CrfLearner(EdgeLearner):
    """A linear model in training.

    n_examples: the number of examples of a pass. loss: for softmax-margin, see `log_likelihood`.
    """

    temperature = 1.0

    def __init__(
        self, features: EdgeFeatures, n_examples: int, settings: CrfSettings | None = None, loss: EdgeLoss | None = None
    ):
        self.features, self.n_examples, self.loss = features, n_examples, loss
        self.settings = settings or CrfSettings()
        self.n_seen = 0
        self.weights = LearningWeights(
            features.n_weights,
            step=self.settings.step,
            l2=self.settings.l2 / n_examples,
            damping=self.settings.damping,
        )
        self._batch: list[tuple[BoundFeatures, np.ndarray]] = []

    def learn(self, example: ChartExample) -> int:
        """Learn from an example; return the number of updates: 1 at the end of a batch, else 0."""
        bound = self.features.bind(example.sentence, example.forest)
        loss = None if self.loss is None else self.loss(example)
        _, derivatives = log_likelihood(bound.scores(self.weights.values), example, loss)
        self._batch.append((bound, derivatives))
        self.n_seen += 1
        return self.finish_batch() if len(self._batch) == self.settings.batch_size else 0

    def model(self) -> LinearChartModel:
        """Return the model learned so far."""
        return LinearChartModel.rounded(self.features, self.weights.settled())

    def state_to_bytes(self) -> bytes:
        """Return everything that training changes. What is left of an unfinished batch is learned before."""
        self.finish_batch()
        return self.n_seen.to_bytes(8, "little") + self.weights.state_to_bytes()

    def state_from_bytes(self, data: bytes) -> None:
        """Restore what `state_to_bytes` returned. Raises ModelError for anything else."""
        self.weights.load_state(data[8:])
        self.n_seen = int.from_bytes(data[:8], "little")
        self._batch = []

    def finish_batch(self) -> int:
        """Change the weights at the end of a pass, even if the batch is not full; return the number of updates."""
        if not self._batch:
            return 0
        # The gain is eta_0 tau / (tau + k) after k examples, tau so that it is halved after the given passes.
        step, tau = self.settings.step, self.settings.halved_after * self.n_examples
        self.weights.step = step * tau / (tau + self.n_seen) if tau else step
        for bound, derivatives in self._batch:
            self.weights.tick()
            bound.update(self.weights, derivatives)
        self._batch = []
        return 1


class BracketLoss:
    """The number of brackets in which a tree differs from the gold tree, times a weight for each kind of error.

    A wrong bracket is one that the gold tree lacks. Missing ones are not in the forest's tree, so they are counted as
    all gold brackets, a constant, minus a credit for each that is found. A bracket that a tree has twice counts twice.

    symbols: for each rule of the grammar, then for each state, what a rule with that number, or WRAP with that state,
    makes over its words.
    """

    def __init__(self, symbols: Sequence[Sequence[Hashable]], n_rules: int, wrong: float = 1.0, missing: float = 1.0):
        self.wrong, self.missing = wrong, missing
        self._n_rules = n_rules
        ids: dict[Hashable, int] = {}
        width = max(map(len, symbols), default=0)
        self._table = np.full((len(symbols) + 1, width), -1, np.int64)  # the last row is that of what makes nothing
        for row, names in enumerate(symbols):
            self._table[row, : len(names)] = [ids.setdefault(name, len(ids)) for name in names]

    @classmethod
    def unbinarized(cls, grammar: Grammar, wrong: float = 1.0, missing: float = 1.0) -> BracketLoss:
        """Return the loss over the phrases of the tree itself, without the root and the tags of words."""
        root = grammar.labels.index(ROOT)
        phrases = [[label for label in labels if label != root] for labels in grammar.rule_labels]
        return cls([*phrases, *grammar.state_labels], grammar.n_rules, wrong, missing)

    def __call__(self, example: ChartExample) -> np.ndarray:
        """Return the loss of each edge of an example's forest, as `CrfLearner` takes it (softmax-margin)."""
        return self.of_edges(example.forest, example.gold)[0]

    def of_edges(self, forest: Forest, gold: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the loss of each edge, float64 (n_edges,), and the constant: a tree's loss is the sum of both.

        gold: the edges of the gold tree.
        """
        keys = self._brackets(forest)
        gold_keys = keys[gold]
        n_gold = int((gold_keys >= 0).sum())
        is_gold = np.isin(keys, gold_keys[gold_keys >= 0])
        losses = np.where(is_gold, -self.missing, self.wrong) * (keys >= 0)
        return losses.sum(axis=1), self.missing * n_gold

    def _brackets(self, forest: Forest) -> np.ndarray:
        """Return the brackets that each edge makes, as numbers; -1 for none: int64 (n_edges, width)."""
        rules, starts, _, ends = forest.edge_array().astype(np.int64).T
        rows = np.where(rules >= 0, rules, np.where(rules <= WRAP, self._n_rules + WRAP - rules, -1))
        symbols = self._table[rows]
        places = starts * (forest.n_words + 1) + ends
        return np.where(symbols >= 0, symbols * (forest.n_words + 1) ** 2 + places[:, None], -1)


EdgeLoss = Callable[[ChartExample], np.ndarray]
"""From an example to what each edge loses against the gold tree: float64 (n_edges,), 0 for the gold edges."""


def log_likelihood(
    scores: np.ndarray, example: ChartExample, loss: np.ndarray | None = None
) -> tuple[float, np.ndarray]:
    """Return log P(gold tree | sentence), and its derivative by the score of each edge: gold minus expected.

    loss: per edge, added to the scores (softmax-margin, Gimpel & Smith 2010): a wrong tree counts the more, the worse
    it is.
    """
    if loss is not None:
        scores = scores + loss
    derivatives = -marginals(example.forest, scores)
    np.add.at(derivatives, example.gold, 1.0)
    return float(scores[example.gold].sum() - inside(example.forest, scores)[-1]), derivatives


SCALE = 256  # units in a weight of 1: finer ones change nothing, and take more bytes
LIMIT = 32767
MAX_BITS = 26


class LinearChartModel:
    """Scores the edges of forests with the weights of their features.

    weights: int16 (features.n_weights,), in units of 1 / SCALE. So sums are exact, and a model scores the same before
    it is stored, afterwards, and on every machine.
    """

    def __init__(self, features: EdgeFeatures, weights: np.ndarray):
        self.features, self.weights = features, weights

    @classmethod
    def rounded(cls, features: EdgeFeatures, weights: np.ndarray) -> LinearChartModel:
        """Return the model with these weights as whole units."""
        return cls(features, np.clip(np.rint(weights * SCALE), -LIMIT, LIMIT).astype(np.int16))

    @property
    def grammar(self) -> Grammar:
        """The grammar of the forests."""
        return self.features.grammar

    def scores(self, sentence: ChartSentence, forest: Forest) -> np.ndarray:
        """Return the score of each edge: float64 (n_edges,)."""
        return cast("np.ndarray", self.features.bind(sentence, forest).scores(self.weights, 1 / SCALE))

    def to_bytes(self) -> bytes:
        """Return the model as bytes, without its grammar and word clusters."""
        content = {
            "templates": [template.key for template in self.features.templates],
            "lexicon": self.features.lexicon.to_dict(),
            "table_bits": self.features.table_bits,
            "weights": pack(self.weights),
        }
        return cast("bytes", srsly.msgpack_dumps(content))

    @classmethod
    def from_bytes(cls, data: bytes, grammar: Grammar, clusters: Clusters | None = None) -> LinearChartModel:
        """Return the model in bytes from `to_bytes`. Raises ModelError for any other bytes."""
        try:
            content = srsly.msgpack_loads(data)
            bits = content["table_bits"]
            check_texts(content["templates"], "templates")
            if type(bits) is not int or not 1 <= bits <= MAX_BITS:
                raise ModelError(f"the model is damaged: its table has {bits!r} bits, not 1 to {MAX_BITS}")
            templates = [parse_key(key) for key in content["templates"]]
            lexicon = Lexicon.from_dict(content["lexicon"], clusters)
            features = EdgeFeatures(grammar, templates, lexicon, table_bits=bits)
            weights = unpack(content["weights"], "i2", "the weights", features.n_weights)
            return cls(features, weights)
        except (KeyError, TypeError, ValueError, AttributeError, ConfigError) as error:
            raise ModelError(f"the model is damaged: its features cannot be read ({error!r})") from error
