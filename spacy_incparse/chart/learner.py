"""The learner of a chart parser: its grammar, its pruners and its training forests, which are built once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from tempfile import TemporaryFile
from typing import IO, Any, ClassVar, cast
from weakref import finalize

import numpy as np

from spacy_incparse.chart.charts import ChartBuilder, ChartExample, ChartSentence
from spacy_incparse.chart.crf import BracketLoss, CrfLearner, EdgeFeatures, EdgeLearner
from spacy_incparse.chart.forest import restored_forest
from spacy_incparse.chart.grammar import Grammar, Rule, count_rules, tree_steps
from spacy_incparse.chart.parser import ChartModel, ChartParser
from spacy_incparse.chart.pruner import SpanClassifier
from spacy_incparse.errors import IncparseError
from spacy_incparse.incremental.grammar import reachable_tags, retag
from spacy_incparse.linear.words import Clusters, Lexicon
from spacy_incparse.parsing.parse import Tags
from spacy_incparse.parsing.parser import Convergence
from spacy_incparse.tagging.tagger import fold_numbers
from spacy_incparse.transforms.binarize import markovize
from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

MAX_KEPT_EDGES = 60_000_000  # of 12 bytes, of all training forests; each pass reads those beyond from disk
PRUNING_FOLDS = 5  # pruners, each trained without one part of the trees, that prune the training sentences


class Jackknife:
    """What some of the trees have taught: for each fold what all other trees have, for other sentences what all have.

    final: what all trees have taught. train: returns what the trees at some places teach.
    """

    def __init__(self, trees: Sequence[Tree], n_folds: int, final: Any, train: Callable[[Sequence[int]], Any]):
        numbers = fold_numbers(trees, n_folds) if n_folds else [0] * len(trees)
        self.final, self.folds = final, []
        for fold in range(n_folds):
            rest = [place for place, number in enumerate(numbers) if number != fold]
            self.folds.append(train(rest) if rest else final)
        self._numbers = {tree.words: number for tree, number in zip(trees, numbers, strict=True)}

    def of(self, words: Sequence[str]) -> Any:
        """Return what has not seen the sentence with these words."""
        number = self._numbers.get(tuple(words))
        return self.final if number is None or not self.folds else self.folds[number]


@dataclass(eq=False)
class TrainingSentence:
    """A sentence to learn from, by its number, and its forest if there is room for it, or that one's place on disk."""

    sentence: ChartSentence
    arrays: TreeArrays
    number: int
    example: ChartExample | None = None
    place: int | None = None


class ChartLearner:
    """A chart parser in training. Parsers of other kinds override its grammar, pruner and learner of edges.

    trees: normalized, with the tags (one row per tree) to train with.
    """

    n_models = 1
    parser_type: ClassVar[type[ChartParser]] = ChartParser
    is_jackknifed: ClassVar[bool] = True
    """Whether training sentences are pruned by pruners that have not seen them. One that knows the sentence is too sure
    of it: it leaves out what it will not leave out of new sentences, and the parser never learns to do without."""

    def __init__(
        self,
        trees: Sequence[Tree],
        tags: Sequence[Tags],
        config: Any,
        heads: HeadRules,
        clusters: Clusters | None = None,
    ):
        self.config, self.heads, self.clusters = config, heads, clusters
        chosen = [(tree, row) for tree, row in zip(trees, tags, strict=True) if self._is_short(tree)]
        if not chosen:
            raise IncparseError(f"no tree has at most {config.max_length} words: raise max_length")
        shown = [retag(tree, reachable_tags(tree.tags, row)) for tree, row in chosen]
        arrays = [self._markovized(tree) for tree in shown]
        # Rules with tags that the tagger got wrong are there, too: given tags may be right.
        missed = [self._markovized(tree) for (tree, _), other in zip(chosen, shown, strict=True) if tree != other]
        self.grammar = Grammar.from_counts(self._rules(count_rules(missed) | count_rules(arrays)))
        pairs = zip(shown, chosen, strict=True)
        n_words = Counter(tag for tree, (other, _) in pairs for tag in (*tree.tags, *other.tags))
        self._tags = tuple(tag for tag, _ in n_words.most_common())
        rows = [self._given(row) for _, row in chosen]

        def train_pruner(places: Sequence[int]) -> Any:
            parts: Any = ([found[place] for place in places] for found in (shown, arrays, rows))
            return self._train_pruner(*parts)

        n_folds = min(PRUNING_FOLDS, len(shown)) if self.is_jackknifed else 0
        self.pruners = Jackknife(shown, n_folds, self._train_pruner(shown, arrays, rows), train_pruner)
        self._edges: Any = self._edge_learner(shown, arrays)
        self._builder = ChartBuilder(self.grammar)
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
        """Return a sentence and its gold tree for `learn`; None if it is too long.

        If a word has several tags, the gold tree has the right one if it is among them, otherwise the first.
        """
        if not self._is_short(tree):
            return None
        key = tuple(words), repr(tags), tree.arrays.labels, tree.arrays.sizes
        if key in self._known:
            return self._known[key]
        arrays = self._markovized(retag(tree, reachable_tags(tree.tags, tags)))
        encoded = TrainingSentence(ChartSentence(tuple(words), tuple(self._given(tags))), arrays, self._n_encoded)
        self._n_encoded += 1
        example = self._example(encoded)
        if self._edges.needs_all:
            self._known[key] = encoded
            if example is not None:
                self._edges.add(example)
        return encoded

    def learn(self, example: TrainingSentence | None, number: int = 0) -> int:
        """Learn from an example of `encode`; return the number of updates."""
        self._parser = None
        self._n_calls += 1
        found = None if example is None else self._example(example)
        n_updates = 0 if found is None else self._edges.learn(found)
        # A pass ends with a full batch, so that training can be stopped and resumed there.
        return n_updates + (self._edges.finish_batch() if self._n_calls % self._n_trees == 0 else 0)

    def parser(self) -> ChartParser:
        """Return the parser learned so far; the same object until the next update."""
        if self._parser is None:
            model = ChartModel(self._edges.model(), self.pruners.final, self.heads, self._tags, self.clusters)
            self._parser = self.parser_type(model, self.config, self._edges.temperature)
        return self._parser

    def state_to_bytes(self) -> bytes:
        """Return everything that training changes."""
        return self._edges.state_to_bytes()

    def state_from_bytes(self, data: bytes) -> None:
        """Restore what `state_to_bytes` returned. Raises ModelError for anything else."""
        self._edges.state_from_bytes(data)
        self._parser, self._n_calls = None, 0

    def _rules(self, counts: Counter[Rule]) -> Counter[Rule]:
        """Return the rules of the grammar with their counts, given those of the training trees."""
        return counts

    def _train_pruner(self, trees: Sequence[Tree], arrays: Sequence[TreeArrays], tags: Sequence[Tags]) -> Any:
        """Return a pruner that trees, their markovized arrays and the tags that the parser will know have taught."""
        return SpanClassifier.train(arrays, tags, self.grammar)

    def _edge_learner(self, trees: Sequence[Tree], arrays: Sequence[TreeArrays]) -> EdgeLearner:
        """Return what learns to score edges from trees, markovized in `arrays`."""
        each = self.config.softmax_margin
        loss = BracketLoss.unbinarized(self.grammar, wrong=each, missing=each) if each else None
        return CrfLearner(self._features(trees), len(trees), loss=loss)

    def _features(self, trees: Sequence[Tree]) -> EdgeFeatures:
        config, lexicon = self.config, self._lexicon(trees)
        return EdgeFeatures(self.grammar, config.templates, lexicon, table_bits=config.table_bits)

    def _lexicon(self, trees: Sequence[Tree]) -> Lexicon:
        return Lexicon.from_sentences((tree.words for tree in trees), clusters=self.clusters)

    def _is_short(self, tree: Tree) -> bool:
        return not self.config.max_length or len(tree.words) <= self.config.max_length

    def _given(self, tags: Tags) -> Tags:
        """Return the tags of a sentence as the parser will know them."""
        return tags if self.config.n_tags else [None] * len(tags)

    def _markovized(self, tree: Tree) -> TreeArrays:
        return markovize(tree.arrays, self.config.markovization, self.heads)

    def _example(self, encoded: TrainingSentence) -> ChartExample | None:
        """Return the forest of a sentence with its gold edges; None if the gold tree is not in it."""
        if encoded.example is not None:
            return encoded.example
        if encoded.place is not None:
            self._spare_forests.seek(encoded.place)
            *arrays, gold = (np.load(self._spare_forests) for _ in range(4))
            forest = restored_forest(len(encoded.sentence.words), *arrays)
            return ChartExample(encoded.sentence, forest, gold, encoded.number)
        found = self._build(encoded)
        if found is not None and self._n_kept_edges + found.forest.n_edges <= MAX_KEPT_EDGES:
            self._n_kept_edges += found.forest.n_edges
            encoded.example = found
        elif found is not None:
            with suppress(OSError):  # there is no room on disk either
                place = self._spare_forests.seek(0, 2)
                for array in (*found.forest.arrays(), found.gold):
                    np.save(self._spare_forests, array)
                self._spare_forests.flush()
                encoded.place = place
        return found

    @cached_property
    def _spare_forests(self) -> IO[bytes]:
        """A temporary file with forests and gold edges, which ends with this object or with the process."""
        file = TemporaryFile(prefix="incparse-forests-")  # noqa: SIM115 (open as long as this object)
        finalize(self, file.close)
        return cast("IO[bytes]", file)

    def _build(self, encoded: TrainingSentence) -> ChartExample | None:
        sentence, steps = encoded.sentence, self.grammar.steps(encoded.arrays)
        if steps is None:
            return None
        pruner = self.pruners.of(sentence.words)
        masks = pruner.masks(sentence.tags, sentence.words, tree_steps(encoded.arrays))
        forest = self._builder.build(sentence.tags, (), masks, relax=False).forest
        gold = forest.find(steps) if forest else None
        return None if gold is None else ChartExample(sentence, forest, gold, encoded.number)
