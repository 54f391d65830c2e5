"""The learner of a chart parser: its grammar, its pruners and its training forests, which are built once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from spacy_incparse.chart.chart_config import ChartConfig
from spacy_incparse.chart.chart_model import ChartModel
from spacy_incparse.chart.chart_parser import ChartParser
from spacy_incparse.chart.chart_sentence import ChartExample, ChartSentence
from spacy_incparse.chart.forests.charts import ChartBuilder
from spacy_incparse.chart.grammar.grammar import Grammar, count_rules
from spacy_incparse.chart.grammar.relaxed_rules import relaxed
from spacy_incparse.chart.grammar.tree_rules import tree_steps
from spacy_incparse.chart.grammar.unary_closure import with_closed_unaries
from spacy_incparse.chart.jackknifed_pruning import TrainingPruners
from spacy_incparse.chart.learning.edge_learners import EdgeLearner, make_edge_learner
from spacy_incparse.chart.spare_forests import SpareForests
from spacy_incparse.derivations.oracle import reachable_tags, retag
from spacy_incparse.errors import IncparseError
from spacy_incparse.lexicon.clusters import Clusters
from spacy_incparse.lexicon.words import Lexicon
from spacy_incparse.parsers.parse import Tags
from spacy_incparse.parsers.protocol import Convergence
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
