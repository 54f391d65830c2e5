"""Max-margin parsing by the factored dual (Taskar et al. 2004, sections 2 to 5), and by MIRA."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import srsly

from spacy_incparse.chart.charts import ChartExample, ChartSentence
from spacy_incparse.chart.crf import BracketLoss, EdgeFeatures, EdgeLearner, LinearChartModel
from spacy_incparse.chart.feature_groups import fill_arrays, packed_arrays
from spacy_incparse.chart.forest import Forest
from spacy_incparse.chart.grammar import Grammar
from spacy_incparse.chart.learner import ChartLearner, Jackknife
from spacy_incparse.chart.parser import ChartParser
from spacy_incparse.chart.recurrences import viterbi
from spacy_incparse.errors import IncparseError, ModelError, damaged
from spacy_incparse.files import unzip
from spacy_incparse.linear.words import Clusters
from spacy_incparse.papers.finkel_2008.system import CrfParser, PaperLearner
from spacy_incparse.papers.taskar_2004 import BASIC, LEXICAL_AUX, MaxMarginConfig
from spacy_incparse.papers.taskar_2004.features import (
    ConstituentClassifier,
    FeatureNumbers,
    LexicalSpans,
    Pcfg,
    SpanPredictor,
    SparseFeatures,
    WordModel,
    jackknifed_predictors,
)
from spacy_incparse.parsing.parser import Convergence
from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.tree import Tree

N_UPDATES = 10  # the most each time that a sentence is visited
NEGLIGIBLE = 1e-12  # marginals below this are rounding errors
NOTHING = 1e-9  # gains up to this end the visit of a sentence
TOLERANCE = 0.02  # of the duality gap, relative to the primal objective: training ends there
MAX_EDGES = 60_000_000  # of all sentences together, each of which takes about 50 bytes
LARGEST_STEP = 0.01  # of MIRA
SCORE_SCALE = 3.0  # how much larger MIRA's scores are than in training, which matters for probabilities alone


def binarized_loss(grammar: Grammar, wrong: float = 1.0, missing: float | None = None) -> BracketLoss:
    """Return the loss over the nodes of the binary tree, active states included (section 3).

    missing: None for the paper's loss. Without unary rules, all trees of a sentence have equally many nodes, and as
        many are wrong as missing: it is 0, since wrong ones say it all. With unary rules, it is 1.
    """
    if missing is None:
        missing = 1.0 if len(grammar.unary) else 0.0
    states = [[name] for name in grammar.states]
    rules = [[rule.parent, *rule.chain] if rule.parent else [] for rule in grammar.rules]
    return BracketLoss([*rules, *states], grammar.n_rules, wrong, missing)


@dataclass
class DualExample:
    """A sentence with its marginals, which begin as the gold tree's.

    losses: of edges, with fixed scores added. constant: what to add to the sum of a tree's losses; its value for the
    gold tree should be 0.
    """

    forest: Forest
    gold: np.ndarray
    features: SparseFeatures
    losses: np.ndarray
    constant: float = 0.0
    marginals: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.marginals = np.zeros(self.forest.n_edges)
        self.marginals[self.gold] = 1.0


class DualityGap(NamedTuple):
    """The primal and the dual objective: at the solution they are equal."""

    primal: float
    dual: float

    @property
    def relative(self) -> float:
        """The gap as a share of the primal objective."""
        return (self.primal - self.dual) / max(abs(self.primal), 1e-12)


class FactoredDual:
    """Trains weights on the whole forests of sentences, two trees at a time (sections 4 and 5).

    A sentence i has a distribution over its trees, kept as the marginals mu of its forest's edges: how much of it is on
    trees with an edge. The weights are what gold trees have more of than these distributions,

        w = C sum_i (Phi_i,gold - sum_r mu_i,r phi_r)                                       (section 2.3)

    and the dual objective, to be maximized, is a quadratic function of the marginals,

        Q(mu) = C sum_i,r mu_i,r l_i,r - |w|^2 / 2                                          (section 4)

    in which l is the loss of an edge, with scores that are not learned added. The tree with the highest score plus loss
    deserves more of the distribution. The update moves some of it there from the tree with the lowest one that has any:
    by the amount that is best for Q, or until an edge has none left. This is sequential minimal optimization (Platt
    1999; Taskar et al. 2003) on marginals. Nothing else of the distribution has to be known, because the marginals'
    constraints are those of a forest's inside-outside probabilities; see Garber & Meshi (2016) for why it converges.

    c: the cost of a unit of slack, C in the paper. pairwise: whether the best tree gets from the worst one alone; if
    not, it gets the same share of all trees, which is block-coordinate Frank-Wolfe (Lacoste-Julien et al. 2013).
    """

    def __init__(self, examples: Sequence[DualExample], n_features: int, c: float, *, pairwise: bool = True):
        self.examples, self.c, self.pairwise = list(examples), c, pairwise
        self.weights = np.zeros(n_features)

    def add(self, example: DualExample, n_features: int) -> None:
        """Add a sentence, and make room for features that it may be the first to have."""
        self.examples.append(example)
        self.weights = np.pad(self.weights, (0, n_features - len(self.weights)))

    def passes(self, tolerance: float = 1e-3, max_passes: int = 100) -> Iterator[DualityGap]:
        """Visit all sentences again and again, and yield the gap after each pass, until it is below the tolerance."""
        for _ in range(max_passes):
            for example in self.examples:
                self.visit(example)
            gap = self.gap()
            yield gap
            if gap.relative < tolerance:
                return

    def visit(self, example: DualExample) -> int:
        """Update a sentence's marginals, and the weights with them, as long as something can be gained.

        Return the number of updates, which is `N_UPDATES` at most.
        """
        return next((done for done in range(N_UPDATES) if not self._update(example)), N_UPDATES)

    def gap(self) -> DualityGap:
        """Return the objectives of the present weights and marginals."""
        half_norm = float((self.weights**2).sum()) / 2
        primal, dual = half_norm, -half_norm
        for example in self.examples:
            fixed, learned = example.losses, example.features.scores(self.weights)
            best, _ = viterbi(example.forest, fixed + learned)
            primal += self.c * (best + example.constant - float(learned[example.gold].sum()))
            dual += self.c * (float((example.marginals * fixed).sum()) + example.constant)
        return DualityGap(primal, dual)

    def _update(self, example: DualExample) -> bool:
        """Move some of the distribution to the best tree; return whether there was something to gain."""
        scores = example.losses + example.features.scores(self.weights)
        _, best = viterbi(example.forest, scores)
        taken = example.marginals.copy()
        if self.pairwise:
            lowest, worst = viterbi(example.forest, np.where(example.marginals > 0, -scores, -np.inf))
            if lowest == -np.inf:  # rounding errors have left no tree
                return False
            taken[:] = 0.0
            taken[worst] = 1.0
        taken[best] -= 1.0
        edges = taken.nonzero()[0]
        limit = float(example.marginals[taken > 0].min(initial=1.0)) if self.pairwise else 1.0
        gain = -float((taken[edges] * scores[edges]).sum())
        if gain <= NOTHING:
            return False
        features, change = example.features.totals(edges, taken[edges])
        # Q changes by c gain step - c^2 |change|^2 step^2 / 2.
        curvature = self.c * float((change**2).sum())
        step = min(gain / curvature, limit) if curvature else limit
        example.marginals[edges] -= step * taken[edges]
        example.marginals[example.marginals < NEGLIGIBLE] = 0.0
        self.weights[features] += self.c * step * change
        return True


@dataclass(frozen=True)
class DualEdges:
    """Scores edges by the weights of their features and by log P(word | state).

    weights: float64 (len(reader.numbers),). pcfg: the generative grammar. predictor: for LEXICAL+AUX.
    """

    reader: LexicalSpans
    weights: np.ndarray
    pcfg: Pcfg
    predictor: SpanPredictor | None = None

    @property
    def grammar(self) -> Grammar:
        """The grammar of the forests."""
        return self.reader.grammar

    def scores(self, sentence: ChartSentence, forest: Forest) -> np.ndarray:
        """Return the score of each edge: float64 (n_edges,)."""
        predictions = self.predictor.of(sentence, forest) if self.predictor else None
        learned = self.reader.read(forest, sentence.words, predictions).scores(self.weights)
        return learned + self.pcfg.word_scores(forest, sentence.words)

    def to_bytes(self) -> bytes:
        """Return the model as bytes, without its grammar, whose counts give the generative grammar."""
        content = {
            "with_words": self.reader.with_words,
            "features": list(self.reader.numbers.features),
            "weights": self.weights.astype("<f8").tobytes(),
            "words": self.pcfg.words and self.pcfg.words.to_dict(),
            "flat": self.predictor.flat.to_dict() if self.predictor else None,
        }
        return srsly.msgpack_dumps(content)

    @classmethod
    def from_bytes(cls, data: bytes, grammar: Grammar, clusters: Clusters | None = None) -> DualEdges:
        """Undo `to_bytes`. Raises ModelError for other bytes, or another grammar's."""
        with damaged("the model is damaged: its features cannot be read"):
            content = srsly.msgpack_loads(data)
            numbers = FeatureNumbers(grammar.n_rules, map(tuple, content["features"]))
            reader = LexicalSpans(grammar, with_words=bool(content["with_words"]), numbers=numbers)
            weights = np.frombuffer(content["weights"], "<f8")
            if len(weights) != len(numbers):
                raise ModelError(f"the model is damaged: it has {len(weights)} weights of {len(numbers)} features")
            words = WordModel.from_dict(content["words"], len(grammar.lexical))
            pcfg = replace(Pcfg.estimate([], grammar), words=words)
            flat = content["flat"]
            predictor = SpanPredictor(pcfg, ConstituentClassifier.from_dict(flat)) if flat else None
            return cls(reader, weights, pcfg, predictor)


class DualLearner(EdgeLearner):
    """A model in training by the factored dual; its sentences, which are added before, and marginals are kept.

    pcfg: has the scores of words, which are not learned. c: see `FactoredDual`. predictors: for LEXICAL+AUX.
    """

    needs_all = True

    def __init__(self, reader: LexicalSpans, pcfg: Pcfg, c: float, predictors: Jackknife | None = None):
        self.reader, self.pcfg, self.predictors = reader, pcfg, predictors
        self.loss = binarized_loss(pcfg.grammar)
        self.dual = FactoredDual([], len(reader.numbers), c)
        self.gap: DualityGap | None = None
        self._examples: dict[int, DualExample] = {}
        self._n_edges = 0

    @property
    def convergence(self) -> Convergence | None:
        """The duality gap after the last pass."""
        if self.gap is None:
            return None
        note = "primal {:.4f}, dual {:.4f}, gap {:.2f} %".format(*self.gap, 100 * self.gap.relative)
        return Convergence(note, is_reached=self.gap.relative < TOLERANCE)

    def add(self, example: ChartExample) -> None:
        """Add a sentence. Raises IncparseError if there is no room for it."""
        self._n_edges += example.forest.n_edges
        if self._n_edges > MAX_EDGES:
            raise IncparseError(
                f"the forests of the first {len(self._examples) + 1:,} sentences have more than {MAX_EDGES:,} edges, "
                f"which a max_margin parser keeps in memory: lower max_length, or use kind = 'mira'"
            )
        forest, gold, sentence = example.forest, example.gold, example.sentence
        losses, constant = self.loss.of_edges(forest, gold)
        fixed = self.pcfg.word_scores(forest, sentence.words)
        predictions = self.predictors.of(sentence.words).of(sentence, forest) if self.predictors else None
        features = self.reader.read(forest, sentence.words, predictions)
        found = DualExample(forest, gold, features, losses + fixed, constant - float(fixed[gold].sum()))
        self._examples[example.number] = found
        self.dual.add(found, len(self.reader.numbers))

    def learn(self, example: ChartExample) -> int:
        """Visit a sentence, unless the gap is small enough; return the number of updates."""
        return 0 if self._is_done() else self.dual.visit(self._examples[example.number])

    def finish_batch(self) -> int:
        """Measure the duality gap at the end of a pass; return 0, the number of updates."""
        if not self._is_done():
            self.gap = self.dual.gap()
        return 0

    def model(self) -> DualEdges:
        """Return the model learned so far."""
        reader, weights = self.reader, self.dual.weights
        first = reader.grammar.n_rules
        found = zip(reader.numbers.features, weights[first:].tolist(), strict=False)
        kept = {feature: weight for feature, weight in found if weight}  # others are left out
        closed = LexicalSpans(reader.grammar, with_words=reader.with_words, numbers=FeatureNumbers(first, kept))
        predictor = self.predictors.final if self.predictors else None
        return DualEdges(closed, np.concatenate([weights[:first], list(kept.values())]), self.pcfg, predictor)

    def state_to_bytes(self) -> bytes:
        """Return everything that training changes."""
        edges = [example.marginals.nonzero()[0] for example in self.dual.examples]
        values = [example.marginals[found] for example, found in zip(self.dual.examples, edges, strict=True)]
        content = {
            "gap": None if self.gap is None else [self.gap.primal, self.gap.dual],
            "weights": self.dual.weights.tobytes(),
            "sizes": [len(found) for found in edges],
            "edges": np.concatenate([*edges, np.zeros(0, np.int64)]).astype(np.int32).tobytes(),
            "values": np.concatenate([*values, np.zeros(0)]).tobytes(),
        }
        return zlib.compress(srsly.msgpack_dumps(content), 1)

    def state_from_bytes(self, data: bytes) -> None:
        """Restore what `state_to_bytes` returned for the same sentences. Raises ModelError for anything else."""
        with damaged("the training state is damaged: start the training anew"):
            content = srsly.msgpack_loads(unzip(data, "the training state is"))
            ends = np.cumsum(content["sizes"])[:-1]
            edges = np.split(np.frombuffer(content["edges"], np.int32), ends)
            values = np.split(np.frombuffer(content["values"]), ends)
            weights = np.frombuffer(content["weights"]).copy()
            gap = None if content["gap"] is None else DualityGap(*content["gap"])
        examples = self.dual.examples
        fits = len(edges) == len(examples) and len(weights) == len(self.dual.weights)
        sizes = [example.forest.n_edges for example in examples]
        if not fits or any(found.max(initial=0) >= size for found, size in zip(edges, sizes, strict=True)):
            raise ModelError("the training state belongs to other sentences: start the training anew")
        self.gap, self.dual.weights = gap, weights
        for example, found, marginals in zip(examples, edges, values, strict=True):
            example.marginals[:] = 0.0
            example.marginals[found] = marginals

    def _is_done(self) -> bool:
        return self.gap is not None and self.gap.relative < TOLERANCE


class MarginLearner(EdgeLearner):
    """MIRA (Crammer et al. 2006; McDonald et al. 2005): what the dual minimizes, one sentence at a time.

    It needs no variable for every edge of a treebank, and counts wrong and missing phrases of trees that are not
    binarized. Its weights are the averages over all sentences so far. c: the largest step. scale: the factor by which
    the model's scores are larger than those of training: probabilities depend on it.
    """

    def __init__(self, features: EdgeFeatures, c: float = LARGEST_STEP, scale: float = SCORE_SCALE):
        self.features, self.c, self.scale = features, c, scale
        self.loss = BracketLoss.unbinarized(features.grammar)
        self.n_seen = 0
        self.weights = np.zeros(features.n_weights, np.float32)
        self._sums = np.zeros(features.n_weights, np.float32)  # of change * n_seen, so that averages need no pass

    def learn(self, example: ChartExample) -> int:
        """Learn from an example; return the number of updates: 1, or 0 if every tree is as far off as its loss asks.

        The update is the smallest one after which the gold tree's score is higher than that of the tree which violates
        this most, by at least its loss; but no step is larger than c.
        """
        bound = self.features.bind(example.sentence, example.forest)
        scores = bound.scores(self.weights)
        losses, constant = self.loss.of_edges(example.forest, example.gold)
        best_score, best = viterbi(example.forest, scores + losses)
        violation = best_score + constant - float(scores[example.gold].sum())
        self.n_seen += 1
        if violation <= 0:
            return 0
        difference = np.zeros(example.forest.n_edges)
        difference[example.gold] += 1.0
        difference[best] -= 1.0
        features, change = bound.feature_vector(difference)
        norm = float((change**2).sum())
        if not norm:
            return 0
        step = min(self.c, violation / norm) * change
        self.weights[features] += step
        self._sums[features] += step * (self.n_seen - 1)
        return 1

    def model(self) -> LinearChartModel:
        """Return the model learned so far."""
        averages = self.weights - self._sums / np.float32(max(self.n_seen, 1))
        return LinearChartModel.rounded(self.features, averages * np.float32(self.scale))

    def state_to_bytes(self) -> bytes:
        """Return everything that training changes."""
        return self.n_seen.to_bytes(8, "little") + packed_arrays([self.weights, self._sums])

    def state_from_bytes(self, data: bytes) -> None:
        """Restore what `state_to_bytes` returned. Raises ModelError for anything else."""
        fill_arrays([self.weights, self._sums], data[8:])
        self.n_seen = int.from_bytes(data[:8], "little")


class MaxMarginParser(CrfParser):
    """A trained parser with the weights of explicit features."""

    kind = "max_margin"
    config_type = MaxMarginConfig
    edges_type = DualEdges


class MaxMarginLearner(PaperLearner):
    """The parser of the paper in training: BASIC, LEXICAL or LEXICAL+AUX."""

    parser_type = MaxMarginParser

    def _edge_learner(self, trees: Sequence[Tree], arrays: Sequence[TreeArrays]) -> EdgeLearner:
        pcfg = Pcfg.estimate(arrays, self.grammar, self._lexicon(trees))
        reader = LexicalSpans(self.grammar, with_words=self.config.features != BASIC)
        is_aux = self.config.features == LEXICAL_AUX
        predictors = jackknifed_predictors(pcfg, trees, arrays, self._lexicon) if is_aux else None
        return DualLearner(reader, pcfg, self.config.slack_cost, predictors)


class MiraParser(ChartParser):
    """A chart parser that MIRA has trained."""

    kind = "mira"


class MiraLearner(ChartLearner):
    """A chart parser with the features and the pruner of "chart" that learns by MIRA."""

    parser_type = MiraParser

    def _edge_learner(self, trees: Sequence[Tree], arrays: Sequence[TreeArrays]) -> EdgeLearner:
        return MarginLearner(self._features(trees))
