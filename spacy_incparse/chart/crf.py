"""The linear model of edges: its features, its weights, and how it is trained as a conditional random field.

The training is that of Finkel, Kleeman & Manning (2008).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, cast

import numpy as np
import srsly

from spacy_incparse.chart.charts import ChartExample, ChartSentence
from spacy_incparse.chart.feature_groups import BoundFeatures, FeatureGroups, LearningWeights
from spacy_incparse.chart.forest import Forest
from spacy_incparse.chart.grammar import WRAP, Grammar
from spacy_incparse.chart.recurrences import inside, marginals
from spacy_incparse.chart.templates import MAX_OFFSET, SPAN_FIELDS, WORD_VALUES, EdgeTemplate, columns, parse_key
from spacy_incparse.errors import ModelError, check_texts, damaged
from spacy_incparse.integer_arrays import pack, unpack
from spacy_incparse.linear.templates import hash_text
from spacy_incparse.linear.words import Clusters, Lexicon, word_class_of
from spacy_incparse.parsing.parse import best_tag
from spacy_incparse.parsing.parser import Convergence
from spacy_incparse.trees.labels import ROOT

# The numbers of anchors and values in feature_groups.pyx.
_ANCHORS = {"": 0, "i": 1, "j": 2, "ij": 3, "word": 4, "k": 5, "ijk": 6}
_VALUES = {name: number for number, name in enumerate(WORD_VALUES)}
_VALUES |= {name: number for number, name in enumerate(SPAN_FIELDS, start=100)}
PAD = MAX_OFFSET
BEFORE, BEHIND = 1, 2  # the values of what is outside of the sentence
CACHE_SIZE = 100_000  # words
SCALE = 256  # units in a weight of 1: finer ones change nothing, and take more bytes
LIMIT = 32767
MAX_BITS = 26


class EdgeFeatures:
    """Finds the features of the edges of forests. Not for several threads at a time.

    templates: see `templates.resolve`. lexicon: numbers the words, and has their clusters. table_bits: a feature is one
    of about 2**table_bits weights; features that share one by chance share its weight.
    """

    def __init__(self, grammar: Grammar, templates: Sequence[EdgeTemplate], lexicon: Lexicon, *, table_bits: int):
        self.grammar, self.templates, self.lexicon, self.table_bits = grammar, tuple(templates), lexicon, table_bits
        groups: dict[tuple[int, str, str], list[EdgeTemplate]] = {}
        for template in self.templates:
            borders = "word" if template.kind == "word" else template.borders
            anchor = _ANCHORS.get(borders, _ANCHORS["ijk"])
            groups.setdefault((anchor, template.kind, template.outcome), []).append(template)
        rows = [
            (anchor, [_numbers(template) for template in members], columns(grammar, kind, outcome))
            for (anchor, kind, outcome), members in groups.items()
        ]
        self._groups = FeatureGroups(rows, grammar.n_rules, len(grammar.states), grammar.first_lexical, table_bits)
        self.n_weights: int = self._groups.n_weights

    def bind(self, sentence: ChartSentence, forest: Forest) -> BoundFeatures:
        """Return the features of the edges of a sentence's forest."""
        return self._groups.bind(forest, self.values(sentence), self.ranks(sentence))

    def values(self, sentence: ChartSentence) -> np.ndarray:
        """Return the values of a sentence's words: uint32 (len(WORD_VALUES), n_words + 2 * PAD), with the padding."""
        words = sentence.words
        found = np.full((len(WORD_VALUES), len(words) + 2 * PAD), BEHIND, np.uint32)
        found[:, :PAD] = BEFORE
        rows = found[:, PAD : PAD + len(words)]
        rows[0], rows[2], rows[6], rows[7] = self.lexicon.encode(words)
        rows[1], rows[3], rows[4] = np.array([_forms(word) for word in words], np.uint32).reshape(-1, 3).T
        rows[5] = [_checksum(best_tag(tag)) for tag in sentence.tags]
        return found

    def ranks(self, sentence: ChartSentence) -> np.ndarray:
        """Return the ranks of the lexical rules' tags: uint32 (n_words, n_lexical_rules); 0 for a word's only tag."""
        grammar = self.grammar
        found = np.zeros((len(sentence.words), len(grammar.lexical)), np.uint32)
        for row, tags in zip(found, sentence.tags, strict=True):
            if tags and not isinstance(tags, str):
                # The best tag has a rank of 1 to 15, by its lead, others of 16 to 31, by their distance.
                best = 1 + min(int(tags[1][1]).bit_length(), 14) if len(tags) > 1 else 0
                ranks = [best, *(16 + min(int(gap).bit_length(), 15) for _, gap in tags[1:])]
                for (name, _), rank in zip(tags, ranks, strict=True):
                    for rule in grammar.rules_of_tag.get(name, ()):
                        row[rule - grammar.first_lexical] = rank
        return found


def _numbers(template: EdgeTemplate) -> tuple[int, list[tuple[int, int, int, int]]]:
    """Return a template's bias, and its fields as rows of value, border, offset and coefficient."""
    return hash_text(template.key), [
        (_VALUES[field.value], max("ijk".find(field.border), 0), field.offset, hash_text(f"{template.key} {name}") | 1)
        for name, field in zip(template.fields, template.parsed, strict=True)
    ]


@lru_cache(CACHE_SIZE)
def _forms(word: str) -> tuple[int, int, int]:
    """Return the values of a word that its letters alone tell: lower case, shape and suffix, and kind."""
    return _checksum(word.lower()), _checksum(word_class_of(word)), _checksum(_kind(word))


def _kind(word: str) -> str:
    """Return the kind of a word: "X" for a capital, "x" for another letter, "9" for a digit; else the character."""
    first = word[:1]
    if first.isalpha():
        return ("XX" if len(word) > 1 and word.isupper() else "X") if first.isupper() else "x"
    return "9" if any(map(str.isdigit, word)) else first


def _checksum(text: str) -> int:
    # Surrogates from broken input cannot be encoded otherwise. Values up to BEHIND have a meaning.
    return max(zlib.crc32(text.encode("utf8", "surrogatepass")), BEHIND + 1)


class LinearChartModel:
    """Scores the edges of forests with the weights of their features.

    weights: int16 (features.n_weights,), in units of 1 / SCALE. So sums are exact, and a model scores the same before
    it is stored, afterwards, and on every machine.
    """

    def __init__(self, features: EdgeFeatures, weights: np.ndarray):
        self.features, self.weights, self.grammar = features, weights, features.grammar

    @classmethod
    def rounded(cls, features: EdgeFeatures, weights: np.ndarray) -> LinearChartModel:
        """Return the model with these weights as whole units."""
        return cls(features, np.clip(np.rint(weights * SCALE), -LIMIT, LIMIT).astype(np.int16))

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
        with damaged("the model is damaged: its features cannot be read"):
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


class EdgeLearner:
    """A model of edges in training.

    Each has `learn`, which takes an example and returns the number of updates, `model`, which returns what is learned
    so far (see `ChartModel`), and `state_to_bytes` and `state_from_bytes` for all that training changes.
    """

    needs_all: ClassVar[bool] = False
    """Whether all sentences are added before it learns from one; equal ones count once then."""
    temperature: ClassVar[float | None] = None
    """The temperature at which its scores are log probabilities; None if only held-out sentences tell."""

    @property
    def convergence(self) -> Convergence | None:
        """How far training is from its end; None if it has none."""
        return None

    def add(self, example: ChartExample) -> None:
        """Take note of a sentence before it is learned from."""

    def finish_batch(self) -> int:
        """Learn from what waits for others at the end of a pass; return the number of updates."""
        return 0


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
            features.n_weights, step=self.settings.step, l2=self.settings.l2 / n_examples, damping=self.settings.damping
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
