"""The chart parser: grammar, pruning, scores of edges and the choice of a tree wired together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isqrt
from threading import RLock
from typing import Any

import srsly

from spacy_incparse.chart import long_sentences
from spacy_incparse.chart.charts import ChartBuilder, unmet
from spacy_incparse.chart.config import ChartConfig
from spacy_incparse.chart.decoding import ScoredChart
from spacy_incparse.chart.edge_labels import EdgeLabels
from spacy_incparse.chart.edge_models import read_edges
from spacy_incparse.chart.grammar import TAG_MARK, Grammar, Rule, Step, grammar_from_dict, grammar_to_dict, tree_steps
from spacy_incparse.chart.sentence import ChartSentence, EdgeModel, SpanPruner
from spacy_incparse.chart.storage import read_pruner
from spacy_incparse.errors import ModelError, check_texts
from spacy_incparse.incremental.oracle import check_words, reachable_tags, retag
from spacy_incparse.linear.clusters import Clusters, stored_clusters
from spacy_incparse.parsing.base import BaseParser
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
from spacy_incparse.parsing.parser import TagRequest
from spacy_incparse.transforms.markovize import Markovization, label_parts, markovize
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

# The most words of a chart. What is left of the cubic growth is small where spans are pruned by classifiers, but not
# in the charts of a small grammar; an exact pruner leaves 15 million edges of 60 words and a relaxed grammar.
MAX_WORDS = 400
MAX_UNPRUNED_WORDS = 60
MOST_WORDS = {"spans": MAX_WORDS, "pcfg": 150, "boolean": MAX_UNPRUNED_WORDS}
MAX_CELLS = 60_000_000  # spans times states, each of which takes 5 bytes while a chart is built
N_SKIPPED = {"normal": 0, "loose": 1, "off": None}  # masks that the setting `pruning` leaves out


class ChartParser(BaseParser):
    """A trained chart parser from words and tags to trees; scores are natural log probabilities of trees.

    A word may have one tag, several, or None for all that training saw. Sentences of more than `max_words` words are
    parsed piece by piece, and count as "relaxed"; so are those whose chart is too large (`forest_builder.MAX_EDGES`),
    in pieces of `MAX_UNPRUNED_WORDS` words at most.
    """

    kind = "chart"

    def __init__(self, model: ChartModel, config: ChartConfig, temperature: float | None = None):
        self.model, self.config, self.temperature = model, config, temperature
        self._labels = EdgeLabels(model.grammar)
        self._builder = ChartBuilder(model.grammar)
        self._last: tuple[object, ScoredChart | Parse] | None = None  # a sentence's tree, n-best list and phrases
        self.max_words = min(MOST_WORDS[config.pruner], isqrt(2 * MAX_CELLS // len(model.grammar.states)))
        self._lock = RLock()  # pruners and builders have room for one sentence

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags that the parser knows, most frequent first."""
        return self.model.tags

    @property
    def labels(self) -> tuple[str, ...]:
        """The phrase labels that its trees may have, sorted."""
        return self.model.grammar.labels

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
        return TagRequest(self.config.n_tags, self.config.tag_margin) if self.config.n_tags else None

    @property
    def answers_with_best(self) -> bool:
        """Whether its tree is the most probable one, and not the one with the best expected F."""
        return self.config.decoding == "viterbi"

    @property
    def has_exact_probabilities(self) -> bool:
        """True: it sums over all trees of a sentence, unless that is parsed piece by piece."""
        return True

    def parse(self, words: Sequence[str], tags: Tags | None = None, constraints: Constraints = ()) -> Parse:
        """Return the tree of a sentence that the setting `decoding` asks for, under constraints.

        constraints: required and forbidden phrases (`parsers.constraints.Constraint`). Those that no tree can meet
        together with those before them are left out and listed in `unmet`. Raises ValueError if there are no words, or
        not as many tags as words, and ConfigError for constraints on other words.
        """
        found = self.scored(words, tags, constraints)
        if isinstance(found, Parse):
            return found
        config = self.config
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

        def scored(given: Tags, steps: Sequence[Step]) -> ScoredChart | None:
            if len(words) > self.max_words:
                return None
            with self._lock:
                return self._chart(ChartSentence(tuple(words), tuple(given)), [], steps)

        return score_given_tree(self.model, self.config.markovization, words, tags, tree, scored)

    def with_search(self, **settings: object) -> ChartParser:
        """Return a parser with the same model and other search settings (decoding, threshold ...)."""
        return ChartParser(self.model, self.config.with_search(**settings), self.temperature)

    def to_bytes(self, *, with_clusters: bool = True) -> bytes:
        """Return the whole parser as bytes, without its clusters if its tagger stores the same ones."""
        content: dict[str, Any] = {
            "config": self.config.to_dict(),
            "model": self.model.to_dict(),
            "temperature": self.temperature,
        }
        if self.clusters and with_clusters:
            content["clusters"] = self.clusters.to_bytes()
        return srsly.msgpack_dumps(content)

    @classmethod
    def from_bytes(cls, data: bytes, clusters: Clusters | None = None) -> ChartParser:
        """Undo `to_bytes`; `clusters` are for a parser stored without them. Raises ModelError for anything else."""
        try:
            content = srsly.msgpack_loads(data)
            config = ChartConfig.from_dict(content["config"])
            clusters = stored_clusters(content, clusters, are_needed=bool(config.clusters))
            temperature = content["temperature"]
            if temperature is not None and not temperature > 0:
                raise ValueError(f"a temperature of {temperature}")
            return cls(ChartModel.from_dict(content["model"], config, clusters), config, temperature)
        except ModelError:
            raise
        except Exception as error:
            raise ModelError(f"these bytes are not a chart parser: {error}") from error

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_bytes, (self.to_bytes(),)

    def _scored(self, sentence: ChartSentence, constraints: Sequence[Constraint]) -> ScoredChart | Parse:
        n_words = len(sentence.words)
        if n_words > self.max_words:
            return self._parse_pieces(sentence, constraints, self.max_words)
        found = self._chart(sentence, constraints)
        if found is None and n_words > MAX_UNPRUNED_WORDS:
            return self._parse_pieces(sentence, constraints, MAX_UNPRUNED_WORDS)
        return self._flat(sentence, constraints) if found is None else found

    def _chart(
        self, sentence: ChartSentence, constraints: Sequence[Constraint], gold: Sequence[Step] = ()
    ) -> ScoredChart | None:
        """Return the chart of a sentence with scores, None if there is none; `gold` are rules that are not pruned."""
        n_skipped, edges = N_SKIPPED[self.config.pruning], self.model.edges
        masks: Sequence[Any] = ()
        if n_skipped is not None:
            masks = self.model.pruner.masks(sentence.tags, sentence.words, gold)
            if n_skipped and len(masks) > n_skipped:  # a single one prunes all the same
                masks = masks[n_skipped:]  # computes all that are left
        chart = self._builder.build(sentence.tags, constraints, masks)
        if not chart.forest:
            return None
        return ScoredChart(sentence, chart, edges.scores(sentence, chart.forest), edges.grammar, self._labels)

    def _flat(self, sentence: ChartSentence, constraints: Sequence[Constraint]) -> Parse:
        tags = [tag or self.tags[0] for tag in sentence.tags]
        tree = flat_tree(sentence.words, tags)
        return Parse(tree, 0.0, "flat", unmet(constraints, tree))

    def _parse_pieces(self, sentence: ChartSentence, constraints: Sequence[Constraint], max_words: int) -> Parse:
        """Return the trees of a long sentence's pieces side by side; the score is the sum of theirs."""
        parses = [
            self.parse(
                sentence.words[start:end], sentence.tags[start:end], long_sentences.within(constraints, start, end)
            )
            for start, end in long_sentences.pieces(sentence.words, max_words)
        ]
        tree = long_sentences.joined([parse.tree for parse in parses])
        score = sum(parse.score for parse in parses)
        return Parse(tree, score, "relaxed", unmet(constraints, tree))


@dataclass(frozen=True)
class ChartModel:
    """The parts of a trained chart parser.

    edges: scores the edges of charts. pruner: chooses what is in them. tags: those of training, most frequent first.
    """

    edges: EdgeModel
    pruner: SpanPruner
    heads: HeadRules
    tags: tuple[str, ...]
    clusters: Clusters | None = None

    @property
    def grammar(self) -> Grammar:
        """The grammar of the charts."""
        return self.edges.grammar

    def to_dict(self) -> dict[str, Any]:
        """Return the model in a form suitable for msgpack, without clusters."""
        return {
            "grammar": grammar_to_dict(self.grammar),
            "edges": self.edges.to_bytes(),
            "pruner": self.pruner.to_bytes(),
            "heads": self.heads.to_dict(),
            "tags": list(self.tags),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any], config: ChartConfig, clusters: Clusters | None) -> ChartModel:
        """Undo `to_dict`. Raises ModelError for what does not fit together."""
        grammar = grammar_from_dict(data["grammar"])
        check_texts(data["tags"], "tags")
        if set(data["tags"]) != set(grammar.tags):
            raise ModelError("the model is damaged: its grammar has other tags")
        return cls(
            edges=read_edges(config.learner, data["edges"], grammar, clusters),
            pruner=read_pruner(config.pruner, data["pruner"], grammar),
            heads=HeadRules.from_dict(data["heads"]),
            tags=tuple(data["tags"]),
            clusters=clusters,
        )


MakeChart = Callable[[Tags, Sequence[Step]], ScoredChart | None]
"""Returns the chart under tags, in which the states of some rules are not pruned; None if there is none."""


def score_given_tree(
    model: ChartModel,
    settings: Markovization,
    words: Sequence[str],
    tags: Tags | None,
    tree: Tree,
    make_chart: MakeChart,
) -> TreeScore:
    """Return the log probability and the rules of a tree; see `ChartParser.score`."""
    check_words(words, tree)
    given: Tags = tree.tags if tags is None else tags  # words without tags have all those of the parser's choice
    known = [tag or own for tag, own in zip(given, tree.tags, strict=True)]
    shown = retag(tree, reachable_tags(tree, known))
    markovized = markovize(shown.arrays, settings, model.heads)
    steps = list(tree_steps(markovized))
    numbered = model.grammar.steps(markovized)
    chart = make_chart(given, steps) if numbered else None
    edges = chart.chart.forest.find(numbered) if chart is not None else None
    if chart is None or edges is None:
        rules = [_rule(step, None, model.grammar) for step in steps]
        return TreeScore(shown, None, (), tuple(rules))
    scores = _shares(chart, edges)
    rules = [_rule(step, score, model.grammar) for step, score in zip(steps, scores, strict=True)]
    return TreeScore(shown, chart.log_probability(chart.sum_of(edges)), (), tuple(rules))


def _shares(chart: ScoredChart, edges: Sequence[int]) -> list[float]:
    """Return the scores of a derivation's rules; that of having no unary rule counts for the rule below."""
    shares, waiting = [], 0.0
    for (rule, _), score in zip(chart.chart.forest.rules_of(edges).tolist(), chart.scores[edges].tolist(), strict=True):
        waiting += score
        if rule >= 0:
            shares.append(waiting)
            waiting = 0.0
    return shares


def _rule(step: Step, score: float | None, grammar: Grammar) -> ScoredRule:
    violation = None if step.rule in grammar.rule_ids else _violation(step.rule, grammar)
    return ScoredRule(str(step.rule), step.start, step.end, score, violation)


def _violation(rule: Rule, grammar: Grammar) -> Violation:
    tags = (label_parts(name[1:]).categories[-1] for name in (rule.parent, *rule.right) if name.startswith(TAG_MARK))
    unknown = next((tag for tag in tags if tag not in grammar.rules_of_tag), None)
    return Violation("rule", f"no rule {rule}") if unknown is None else Violation("tag", f"no tag {unknown}")
