"""The learner of a chart parser: its grammar, its pruners and its training forests, which are built once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from tempfile import TemporaryFile
from typing import IO, Protocol
from weakref import finalize

import numpy as np

from spacy_incparse.chart.boolean_pruner import BooleanPruner
from spacy_incparse.chart.charts import ChartBuilder
from spacy_incparse.chart.config import ChartConfig
from spacy_incparse.chart.crf import BracketLoss, CrfLearner, CrfSettings, EdgeLoss
from spacy_incparse.chart.dual_learner import DualLearner, DualSettings
from spacy_incparse.chart.edge_models import PcfgEdges
from spacy_incparse.chart.features import EdgeFeatures
from spacy_incparse.chart.forest import restored_forest
from spacy_incparse.chart.grammar import Grammar, count_rules, tree_steps
from spacy_incparse.chart.lexical_spans import LexicalSpans
from spacy_incparse.chart.margin_learner import MarginLearner, MarginSettings
from spacy_incparse.chart.parser import ChartModel, ChartParser
from spacy_incparse.chart.pcfg import Pcfg
from spacy_incparse.chart.pcfg_pruner import coarse
from spacy_incparse.chart.pruner import SpanClassifier, SpanClassifierSettings
from spacy_incparse.chart.relaxed_rules import relaxed
from spacy_incparse.chart.sentence import ChartExample, ChartSentence, EdgeModel, SpanPruner
from spacy_incparse.chart.span_predictions import JackknifedPredictors, MakeLexicon
from spacy_incparse.chart.storage import StoredPruner
from spacy_incparse.chart.templates import TASKAR_AUX, TASKAR_RULES
from spacy_incparse.chart.unary_closure import with_closed_unaries
from spacy_incparse.errors import IncparseError
from spacy_incparse.incremental.oracle import reachable_tags, retag
from spacy_incparse.linear.clusters import Clusters
from spacy_incparse.linear.words import Lexicon
from spacy_incparse.parsing.parse import Tags
from spacy_incparse.parsing.parser import Convergence
from spacy_incparse.tagging.jackknife import fold_numbers
from spacy_incparse.transforms.markovize import markovize
from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

MAX_KEPT_EDGES = 60_000_000  # of 12 bytes, of all training forests; each pass reads those beyond from disk


class TrainingSentence:
    """A sentence to learn from, by its number, and its forest if there is room for it, or that one's place on disk."""

    def __init__(self, sentence: ChartSentence, arrays: TreeArrays, number: int):
        self.sentence, self.arrays, self.number = sentence, arrays, number
        self.example: ChartExample | None = None
        self.place: int | None = None


class ChartLearner:
    """A chart parser in training.

    trees: normalized, with the tags (one row per tree) to train with.
    """

    n_models = 1

    def __init__(
        self,
        trees: Sequence[Tree],
        tags: Sequence[Tags],
        config: ChartConfig,
        heads: HeadRules,
        clusters: Clusters | None = None,
    ):
        self.config, self.heads, self.clusters = config, heads, clusters
        chosen = [(tree, row) for tree, row in zip(trees, tags, strict=True) if self._is_short(tree)]
        if not chosen:
            raise IncparseError(f"no tree has at most {config.max_length} words: raise max_length")
        shown = [retag(tree, reachable_tags(tree, row)) for tree, row in chosen]
        arrays = [self._markovized(tree) for tree in shown]
        # Rules with tags that the tagger got wrong are there, too: given tags may be right.
        missed = [self._markovized(tree) for (tree, _), other in zip(chosen, shown, strict=True) if tree != other]
        self.grammar = self._read_grammar(arrays, missed)
        n_words = Counter(
            tag for tree, other in zip(shown, chosen, strict=True) for tag in (*tree.tags, *other[0].tags)
        )
        self._tags = tuple(tag for tag, _ in n_words.most_common())
        self._pruners = TrainingPruners(shown, [self._given(row) for _, row in chosen], self.grammar, config, heads)
        self._edges: EdgeLearner = make_edge_learner(config, self.grammar, self._lexicon, shown, arrays)
        self._builder, self._spare_forests = ChartBuilder(self.grammar), SpareForests()
        self._n_trees, self._n_calls, self._n_encoded, self._n_kept_edges = len(trees), 0, 0, 0
        self._parser: ChartParser | None = None
        self._known: dict[tuple, TrainingSentence] = {}
        if self._edges.needs_all:
            for tree, row in chosen:
                self.encode(tree.words, row, tree)

    @property
    def convergence(self) -> Convergence | None:
        """How far training is from its end; None if it has none but the last pass."""
        return self._edges.convergence

    def encode(self, words: Sequence[str], tags: Tags, tree: Tree) -> TrainingSentence | None:
        """Return a sentence and its gold tree for `learn`; None if it is too long or the grammar lacks its rules.

        If a word has several tags, the gold tree has the right one if it is among them, otherwise the first.
        """
        if not self._is_short(tree):
            return None
        key = tuple(words), repr(tags), tree.arrays.labels, tree.arrays.sizes
        if key in self._known:
            return self._known[key]
        arrays = self._markovized(retag(tree, reachable_tags(tree, tags)))
        encoded = TrainingSentence(ChartSentence(tuple(words), tuple(self._given(tags))), arrays, self._n_encoded)
        self._n_encoded += 1
        example = self._example(encoded) if self._edges.learns else None
        if example is not None:
            self._edges.add(example)
        if self._edges.needs_all:
            self._known[key] = encoded
        return encoded

    def learn(self, example: TrainingSentence | None, number: int = 0) -> int:
        """Learn from an example of `encode`; return the number of updates."""
        if not self._edges.learns:
            return 0
        self._parser = None
        self._n_calls += 1
        found = None if example is None else self._example(example)
        n_updates = 0 if found is None else self._edges.learn(found)
        # A pass ends with a full batch, so that training can be stopped and resumed there.
        return n_updates + (self._edges.finish_batch() if self._n_calls % self._n_trees == 0 else 0)

    def parser(self) -> ChartParser:
        """Return the parser learned so far; the same object until the next update."""
        if self._parser is None:
            model = ChartModel(self._edges.model(), self._pruners.final, self.heads, self._tags, self.clusters)
            self._parser = ChartParser(model, self.config, self._edges.temperature)
        return self._parser

    def state_to_bytes(self) -> bytes:
        """Return everything that training changes."""
        return self._edges.state_to_bytes()

    def state_from_bytes(self, data: bytes) -> None:
        """Restore what `state_to_bytes` returned. Raises ModelError for anything else."""
        self._edges.state_from_bytes(data)
        self._parser, self._n_calls = None, 0

    def _is_short(self, tree: Tree) -> bool:
        return not self.config.max_length or len(tree.words) <= self.config.max_length

    def _given(self, tags: Tags) -> Tags:
        """Return the tags of a sentence as the parser will know them."""
        return tags if self.config.n_tags else [None] * len(tags)

    def _markovized(self, tree: Tree) -> TreeArrays:
        return markovize(tree.arrays, self.config.markovization, self.heads)

    def _read_grammar(self, arrays: Sequence[TreeArrays], others: Sequence[TreeArrays]) -> Grammar:
        """Return the grammar of trees, with the rules of others that these lack."""
        counts = count_rules(others) | count_rules(arrays)
        if self.config.relaxed_rules:
            counts = relaxed(counts)
        if self.config.close_unaries:
            counts = with_closed_unaries(counts)
        return Grammar.from_counts(counts)

    def _lexicon(self, trees: Sequence[Tree]) -> Lexicon:
        return Lexicon.from_sentences(
            (tree.words for tree in trees),
            known_min_count=self.config.known_min_count,
            common_min_count=self.config.common_min_count,
            clusters=self.clusters,
        )

    def _example(self, encoded: TrainingSentence) -> ChartExample | None:
        """Return the forest of a sentence with its gold edges; None if the gold tree is not in it."""
        if encoded.example is not None:
            return encoded.example
        if encoded.place is not None:
            return self._spare_forests.read(encoded.place)
        found = self._build(encoded)
        if found is not None and self._n_kept_edges + found.forest.n_edges <= MAX_KEPT_EDGES:
            self._n_kept_edges += found.forest.n_edges
            encoded.example = found
        elif found is not None:
            encoded.place = self._spare_forests.write(found)
        return found

    def _build(self, encoded: TrainingSentence) -> ChartExample | None:
        sentence = encoded.sentence
        steps = self.grammar.steps(encoded.arrays)
        if steps is None:
            return None
        pruner = self._pruners.of(sentence.words)
        masks = pruner.masks(sentence.tags, sentence.words, list(tree_steps(encoded.arrays)))
        forest = self._builder.build(sentence.tags, (), masks, relax=False).forest
        gold = forest.find(steps) if forest else None
        return None if gold is None else ChartExample(sentence, forest, gold, encoded.number)


# A pruner that knows the sentence is too sure of it: it leaves out what it will not leave out of new sentences, and
# the parser never learns to do without.


class TrainingPruners:
    """The pruner of a parser, and those that prune its training sentences.

    trees: with the tags that the grammar has seen. tags: those that the parser is trained with. final: the pruner that
    is trained on all trees.
    """

    def __init__(
        self, trees: Sequence[Tree], tags: Sequence[Tags], fine: Grammar, config: ChartConfig, heads: HeadRules
    ):
        self._trees, self._tags, self._fine, self._config, self._heads = trees, tags, fine, config, heads
        self.final: SpanPruner = self._train(range(len(trees)))
        is_jackknifed = config.pruning_folds > 1 and config.pruner != "boolean"  # which is exact
        n_folds = min(config.pruning_folds, len(trees)) if is_jackknifed else 0
        numbers = fold_numbers(trees, max(n_folds, 1))
        self._numbers = {tree.words: number for tree, number in zip(trees, numbers, strict=True)}
        self._folds = [
            self._train([place for place, number in enumerate(numbers) if number != fold]) for fold in range(n_folds)
        ]

    def of(self, words: Sequence[str]) -> SpanPruner:
        """Return the pruner that has not seen a training sentence; that of all trees for other sentences."""
        number = self._numbers.get(tuple(words))
        return self.final if number is None or not self._folds else self._folds[number]

    def _train(self, places: Sequence[int]) -> SpanPruner:
        """Return a pruner trained on some of the trees; that of all trees if there are none."""
        if not places:
            return self.final
        trees, config = [self._trees[place] for place in places], self._config
        if config.pruner == "boolean":
            return BooleanPruner.train(trees, self._fine)
        if config.pruner == "pcfg":
            return self._grammar_pruner(trees)
        arrays = [markovize(tree.arrays, config.markovization, self._heads) for tree in trees]
        settings = SpanClassifierSettings(thresholds=tuple(config.pruning_thresholds))
        tags = [self._tags[place] for place in places]
        return SpanClassifier.train(arrays, tags, self._fine, settings)

    def _grammar_pruner(self, trees: Sequence[Tree]) -> SpanPruner:
        config, lexicon = self._config, None
        arrays = [markovize(tree.arrays, coarse(config.markovization), self._heads) for tree in trees]
        if config.n_tags != 1:  # words choose among tags
            counts = {"known_min_count": config.known_min_count, "common_min_count": config.common_min_count}
            lexicon = Lexicon.from_sentences((tree.words for tree in trees), **counts)
        model = Pcfg.estimate(arrays if lexicon else [], Grammar.from_trees(arrays), lexicon)
        return StoredPruner(model, self._fine, thresholds=config.pruning_thresholds)


class EdgeLearner(Protocol):
    """A model of edges in training."""

    learns: bool
    """Whether it learns from examples."""
    needs_all: bool
    """Whether all sentences are added before it learns from one; equal ones count once then."""
    temperature: float | None
    """The temperature at which its scores are log probabilities; None if only held-out sentences tell."""

    @property
    def convergence(self) -> Convergence | None:
        """How far training is from its end; None if it has none."""

    def add(self, example: ChartExample) -> None:
        """Take note of a sentence before it is learned from."""

    def learn(self, example: ChartExample) -> int:
        """Learn from a sentence; return the number of updates."""

    def finish_batch(self) -> int:
        """Learn from what waits for others at the end of a pass; return the number of updates."""

    def model(self) -> EdgeModel:
        """Return the model learned so far."""

    def state_to_bytes(self) -> bytes:
        """Return everything that training changes."""

    def state_from_bytes(self, data: bytes) -> None:
        """Restore what `state_to_bytes` returned. Raises ModelError for anything else."""


class CountedEdges:
    """Relative frequencies, which are counted at once: passes over the sentences change nothing."""

    learns = needs_all = False
    temperature: float | None = 1.0

    convergence: Convergence | None = None

    def __init__(self, pcfg: Pcfg):
        self._model = PcfgEdges(pcfg)

    def add(self, example: ChartExample) -> None:
        """Do nothing."""

    def learn(self, example: ChartExample) -> int:
        """Return 0, the number of updates."""
        return 0

    def finish_batch(self) -> int:
        """Return 0, the number of updates."""
        return 0

    def model(self) -> EdgeModel:
        """Return the model."""
        return self._model

    def state_to_bytes(self) -> bytes:
        """Return no bytes: training changes nothing."""
        return b""

    def state_from_bytes(self, data: bytes) -> None:
        """Do nothing."""


class LearnedEdges:
    """The weights of features in training."""

    learns, needs_all = True, False
    convergence: Convergence | None = None

    def __init__(self, learner: CrfLearner | MarginLearner, temperature: float | None):
        self.temperature = temperature
        self.learn, self.finish_batch, self.model = learner.learn, learner.finish_batch, learner.model
        self.state_to_bytes, self.state_from_bytes = learner.state_to_bytes, learner.state_from_bytes

    def add(self, example: ChartExample) -> None:
        """Do nothing: a sentence is learned from by itself."""


def make_edge_learner(
    config: ChartConfig,
    grammar: Grammar,
    make_lexicon: MakeLexicon,
    trees: Sequence[Tree],
    arrays: Sequence[TreeArrays],
) -> EdgeLearner:
    """Return the learner that a configuration names. arrays: the markovized training trees."""
    lexicon = make_lexicon(trees)
    if config.learner == "pcfg":
        return CountedEdges(Pcfg.estimate(arrays, grammar, None if config.n_tags == 1 else lexicon))
    if config.learner == "dual":
        pcfg = Pcfg.estimate(arrays, grammar, lexicon)
        has_predictions = config.features == TASKAR_AUX
        predictors = JackknifedPredictors(pcfg, trees, arrays, make_lexicon) if has_predictions else None
        return _dual(config, pcfg, predictors)
    features = EdgeFeatures(grammar, config.templates, lexicon, table_bits=config.table_bits)
    if config.learner == "crf":
        settings = CrfSettings(config.step, config.damping, config.l2, config.batch_size, config.step_halved_after)
        return LearnedEdges(CrfLearner(features, len(arrays), settings, _softmax_margin(config, grammar)), 1.0)
    margin = MarginSettings(config.margin_step, config.score_scale)
    return LearnedEdges(MarginLearner(features, len(arrays), margin, _margin_loss(config, grammar)), None)


def _margin_loss(config: ChartConfig, grammar: Grammar) -> BracketLoss:
    return BracketLoss.unbinarized(grammar) if config.loss == "phrases" else BracketLoss.binarized(grammar)


def _softmax_margin(config: ChartConfig, grammar: Grammar) -> EdgeLoss | None:
    each = config.softmax_margin
    return BracketLoss.unbinarized(grammar, wrong=each, missing=each) if each else None


def _dual(config: ChartConfig, pcfg: Pcfg, predictors: JackknifedPredictors | None) -> DualLearner:
    """Return the learner of Taskar et al. (2004): BASIC, LEXICAL or LEXICAL+AUX."""
    reader = LexicalSpans(pcfg.grammar, with_words=config.features != TASKAR_RULES)
    settings = DualSettings(config.slack_cost, config.gap_tolerance)
    return DualLearner(reader, pcfg, _margin_loss(config, pcfg.grammar), settings, predictors)


class SpareForests:
    """Examples whose forests are in a temporary file, which ends with this object or with the process."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._sentences: dict[int, tuple[ChartSentence, int]] = {}  # by place, with the number of the example

    def write(self, example: ChartExample) -> int | None:
        """Return the place of an example in the file; None if there is no room for it on disk."""
        try:
            if self._file is None:
                self._file = TemporaryFile(prefix="incparse-forests-")  # noqa: SIM115 (open as long as this object)
                finalize(self, self._file.close)
            place = self._file.seek(0, 2)
            for array in (*example.forest.arrays(), example.gold):
                np.save(self._file, array)
            self._file.flush()
        except OSError:
            return None
        self._sentences[place] = example.sentence, example.number
        return place

    def read(self, place: int) -> ChartExample:
        """Return the example that was written to a place."""
        if self._file is None:
            raise ValueError("nothing has been written")
        self._file.seek(place)
        nodes, rules, children, gold = (np.load(self._file) for _ in range(4))
        sentence, number = self._sentences[place]
        return ChartExample(sentence, restored_forest(len(sentence.words), nodes, rules, children), gold, number)
