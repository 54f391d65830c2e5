"""The chart parser: grammar, pruning, scores of edges and the choice of a tree wired together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt
from threading import RLock
from typing import Any, ClassVar

import srsly

from spacy_incparse.chart.charts import ChartBuilder, ChartSentence, ScoredChart, pieces, unmet, within
from spacy_incparse.chart.config import ChartConfig, ChartSettings
from spacy_incparse.chart.crf import LinearChartModel
from spacy_incparse.chart.grammar import TAG_MARK, Grammar, Step, grammar_from_dict, grammar_to_dict, tree_steps
from spacy_incparse.chart.pruner import SpanClassifier
from spacy_incparse.chart.recurrences import EdgeLabels
from spacy_incparse.errors import ModelError, check_texts, damaged
from spacy_incparse.incremental.grammar import check_words, reachable_tags, retag
from spacy_incparse.linear.words import Clusters, stored_clusters
from spacy_incparse.parsing.parse import (
    Constraint,
    Constraints,
    Parse,
    Posterior,
    ScoredRule,
    Tags,
    TreeScore,
    Violation,
    check_n_analyses,
    check_sentence,
    checked_constraints,
    flat_tree,
)
from spacy_incparse.parsing.parser import Parser, TagRequest, stored_temperature
from spacy_incparse.transforms.binarize import label_parts, markovize
from spacy_incparse.trees.builder import make_tree
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.labels import ROOT
from spacy_incparse.trees.tree import Tree

MAX_WORDS = 400  # of a chart; what is left of the cubic growth is small where spans are pruned by classifiers
MAX_UNPRUNED_WORDS = 60  # an exact pruner leaves 15 million edges of 60 words and a relaxed grammar
MAX_CELLS = 60_000_000  # spans times states, each of which takes 5 bytes while a chart is built


@dataclass(frozen=True)
class ChartModel:
    """The parts of a trained chart parser; edges and pruner leave the grammar out of what their `to_bytes` returns.

    edges: a model with a `grammar`; `scores(sentence, forest)` returns the score of each edge, float64 (n_edges,).
    pruner: `masks(tags, words, gold)` returns masks for `ChartBuilder.build`, the strictest first, which leave out no
    state of the steps in `gold`. tags: those of training, most frequent first.
    """

    edges: Any
    pruner: Any
    heads: HeadRules
    tags: tuple[str, ...]
    clusters: Clusters | None = None

    @property
    def grammar(self) -> Grammar:
        """The grammar of the charts."""
        return self.edges.grammar


class ChartParser(Parser):
    """A trained chart parser from words and tags to trees; scores are natural log probabilities of trees.

    A word may have one tag, several, or None for all that training saw. Sentences of more than `max_words` words are
    parsed piece by piece, and count as "relaxed"; so are those whose chart is too large (`forest_builder.MAX_EDGES`),
    in pieces of `MAX_UNPRUNED_WORDS` words at most. Parsers of other kinds replace the class attributes.
    """

    kind = "chart"
    config_type: ClassVar[type[ChartSettings]] = ChartConfig
    edges_type: ClassVar[Any] = LinearChartModel
    pruner_type: ClassVar[Any] = SpanClassifier
    most_words: ClassVar[int] = MAX_WORDS
    has_exact_probabilities = True  # it sums over all trees of a sentence, unless that is parsed piece by piece

    def __init__(self, model: ChartModel, config: ChartSettings, temperature: float | None = None):
        self.model, self.config, self.temperature = model, config, temperature
        self.tags, self.labels = model.tags, model.grammar.labels
        self._labels = EdgeLabels(model.grammar)
        self._builder = ChartBuilder(model.grammar)
        self._last: tuple[object, ScoredChart | Parse] | None = None  # a sentence's tree, n-best list and phrases
        self.max_words = min(self.most_words, isqrt(2 * MAX_CELLS // len(model.grammar.states)))
        self._lock = RLock()  # pruners and builders have room for one sentence

    @property
    def heads(self) -> HeadRules:
        """The head rules of the treebank that it was trained on."""
        return self.model.heads

    @property
    def clusters(self) -> Clusters | None:
        """The word clusters that its features read."""
        return self.model.clusters

    @property
    def tag_request(self) -> TagRequest | None:
        """The tags that it needs: up to `n_tags` for each word; None if it chooses from all."""
        return self.config.tag_request

    @property
    def answers_with_best(self) -> bool:
        """Whether its tree is the most probable one, and not the one with the best expected F."""
        return self.config.decoding == "viterbi"

    def parse(self, words: Sequence[str], tags: Tags | None = None, constraints: Constraints = ()) -> Parse:
        """Return the tree of a sentence that the setting `decoding` asks for, under constraints.

        constraints: required and forbidden phrases (`parsing.parse.Constraint`). Those that no tree can meet
        together with those before them are left out and listed in `unmet`. Raises ValueError if there are no words, or
        not as many tags as words, and ConfigError for constraints on other words.
        """
        found, config = self.scored(words, tags, constraints), self.config
        if isinstance(found, Parse):
            return found
        return found.best(config.decoding, config.threshold, config.choose_temperature)

    def nbest(
        self, words: Sequence[str], tags: Tags | None = None, k: int = 1, constraints: Constraints = ()
    ) -> list[Parse]:
        """Return the k most probable trees of a sentence, or all if there are fewer, best first; see `parse`.

        Raises ValueError if k is below 1.
        """
        check_n_analyses(k)
        found = self.scored(words, tags, constraints)
        return [found] if isinstance(found, Parse) else found.nbest(k)

    def posterior(
        self,
        words: Sequence[str],
        tags: Tags | None = None,
        constraints: Constraints = (),
        *,
        temperature: float | None = None,
    ) -> Posterior | None:
        """Return the probabilities of all phrases of a sentence; None without a temperature, or a chart.

        temperature: by default, that of the parser.
        """
        temperature = temperature or self.temperature
        if temperature is None:
            return None
        found = self.scored(words, tags, constraints)
        return None if isinstance(found, Parse) else found.posterior(temperature)

    def scored(
        self, words: Sequence[str], tags: Tags | None = None, constraints: Constraints = ()
    ) -> ScoredChart | Parse:
        """Return the chart of a sentence with its scores, or the only tree if there is none; see `parse`."""
        check_sentence(words, tags)
        sentence = ChartSentence(tuple(words), tuple(tags) if tags is not None else (None,) * len(words))
        wanted = checked_constraints(constraints, len(words))
        with self._lock:
            if self._last is None or self._last[0] != (sentence, wanted):
                self._last = (sentence, wanted), self._scored(sentence, wanted)
            return self._last[1]

    def score(self, words: Sequence[str], tags: Tags | None, tree: Tree) -> TreeScore:
        """Return the log probability and the rules of a normalized tree of the sentence.

        tags: the tags that the sentence would be parsed under; None: the tree's own. If a word has several tags, the
        tree's is used if it is among them, otherwise the first. What the tree needs is not pruned. Raises ValueError
        if the tree has other words.
        """
        check_words(words, tree)
        given: Tags = tree.tags if tags is None else tags  # words without tags have all those of the parser's choice
        known = [tag or own for tag, own in zip(given, tree.tags, strict=True)]
        shown, grammar = retag(tree, reachable_tags(tree.tags, known)), self.model.grammar
        markovized = markovize(shown.arrays, self.config.markovization, self.heads)
        steps = list(tree_steps(markovized))
        numbered, found, edges = grammar.steps(markovized), None, None
        if numbered and len(words) <= self.max_words:
            with self._lock:
                found = self._chart(ChartSentence(tuple(words), tuple(given)), [], steps)
                edges = found.chart.forest.find(numbered) if found is not None else None
        if found is None or edges is None:
            return TreeScore(shown, None, (), tuple(_rule(step, None, grammar) for step in steps))
        shares, waiting = [], 0.0  # the score of having no unary rule counts for the rule below
        for (rule, _), score in zip(found.chart.forest.rules_of(edges).tolist(), found.scores[edges], strict=True):
            waiting += float(score)
            if rule >= 0:
                shares.append(waiting)
                waiting = 0.0
        rules = [_rule(step, score, grammar) for step, score in zip(steps, shares, strict=True)]
        return TreeScore(shown, found.log_probability(found.sum_of(edges)), (), tuple(rules))

    def with_search(self, **settings: object) -> ChartParser:
        """Return a parser with the same model and other search settings (decoding, threshold ...)."""
        return type(self)(self.model, self.config.with_search(**settings), self.temperature)

    def to_bytes(self, *, with_clusters: bool = True) -> bytes:
        """Return the whole parser as bytes, without its clusters if its tagger stores the same ones."""
        model = self.model
        content: dict[str, Any] = {
            "config": self.config.to_dict(),
            "temperature": self.temperature,
            "grammar": grammar_to_dict(model.grammar),
            "edges": model.edges.to_bytes(),
            "pruner": model.pruner.to_bytes(),
            "heads": model.heads.to_dict(),
            "tags": list(model.tags),
        }
        if self.clusters and with_clusters:
            content["clusters"] = self.clusters.to_bytes()
        return srsly.msgpack_dumps(content)

    @classmethod
    def from_bytes(cls, data: bytes, clusters: Clusters | None = None) -> ChartParser:
        """Undo `to_bytes`; `clusters` are for a parser stored without them. Raises ModelError for anything else."""
        with damaged(f"these bytes are not a {cls.kind} parser"):
            content = srsly.msgpack_loads(data)
            config = cls.config_type.from_dict(content["config"])
            clusters = stored_clusters(content, clusters, are_needed=bool(config.clusters))
            temperature = stored_temperature(content)
            grammar = grammar_from_dict(content["grammar"])
            check_texts(content["tags"], "tags")
            if set(content["tags"]) != set(grammar.tags):
                raise ModelError("the model is damaged: its grammar has other tags")
            edges = cls.edges_type.from_bytes(content["edges"], grammar, clusters)
            pruner = cls.pruner_type.from_bytes(content["pruner"], grammar)
            heads = HeadRules.from_dict(content["heads"])
            return cls(ChartModel(edges, pruner, heads, tuple(content["tags"]), clusters), config, temperature)

    def _scored(self, sentence: ChartSentence, constraints: Sequence[Constraint]) -> ScoredChart | Parse:
        words, tags = sentence.words, sentence.tags
        found = self._chart(sentence, constraints) if len(words) <= self.max_words else None
        if found is not None:
            return found
        if len(words) <= min(self.max_words, MAX_UNPRUNED_WORDS):
            tree = flat_tree(words, [tag or self.tags[0] for tag in tags])
            return Parse(tree, 0.0, "flat", unmet(constraints, tree))
        most = self.max_words if len(words) > self.max_words else MAX_UNPRUNED_WORDS
        parses = [
            self.parse(words[start:end], tags[start:end], within(constraints, start, end))
            for start, end in pieces(words, most)
        ]
        tree = make_tree(ROOT, [child for parse in parses for child in parse.tree.children])
        return Parse(tree, sum(parse.score for parse in parses), "relaxed", unmet(constraints, tree))

    def _chart(
        self, sentence: ChartSentence, constraints: Sequence[Constraint], gold: Sequence[Step] = ()
    ) -> ScoredChart | None:
        """Return the chart of a sentence with scores, None if there is none; `gold` are rules that are not pruned."""
        edges, masks = self.model.edges, self.model.pruner.masks(sentence.tags, sentence.words, gold)
        if self.config.pruning == "off":
            masks = ()
        elif self.config.pruning == "loose" and len(masks) > 1:  # a single one prunes all the same
            masks = masks[1:]  # computes all that are left
        chart = self._builder.build(sentence.tags, constraints, masks)
        if not chart.forest:
            return None
        return ScoredChart(sentence, chart, edges.scores(sentence, chart.forest), edges.grammar, self._labels)


def _rule(step: Step, score: float | None, grammar: Grammar) -> ScoredRule:
    rule, violation = step.rule, None
    if rule not in grammar.rule_ids:
        states = [name[1:] for name in (rule.parent, *rule.right) if name.startswith(TAG_MARK)]
        tags = [label_parts(name).categories[-1] for name in states]
        unknown = next((tag for tag in tags if tag not in grammar.rules_of_tag), None)
        violation = Violation("tag", f"no tag {unknown}") if unknown else Violation("rule", f"no rule {rule}")
    return ScoredRule(str(rule), step.start, step.end, score, violation)
