"""Sentences as packed forests, the scores of their edges, and the trees in them: the best ones, and probabilities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np

from spacy_incparse.chart.forest import Forest
from spacy_incparse.chart.forest_builder import ForestBuilder, RuleTables, SpanLimits
from spacy_incparse.chart.grammar import Grammar
from spacy_incparse.chart.recurrences import EdgeLabels, KBest, log_partition, marginals, viterbi
from spacy_incparse.parsing.parse import Constraint, Parse, Posterior, Tag, Tags, best_tag, is_about_root, may_be_met
from spacy_incparse.trees.arrays import Phrase
from spacy_incparse.trees.builder import TreeBuilder
from spacy_incparse.trees.labels import ROOT
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from spacy_incparse.chart.forest_builder import SpanStates


MAX_REQUIRED = 60  # labels over the same words: there is a bit for each in `SpanLimits`
MORE_DERIVATIONS = 5  # how many derivations of each tree are looked at, if trees have several
TAG_GAIN = 1e-3  # of a tag that is right, where a bracket's is 1
TINY = 1e-300  # the lowest probability whose logarithm is used


@dataclass(frozen=True)
class Chart:
    """The forest of a sentence.

    source: "chart"; "relaxed" if the grammar has no tree and neighbours may stand under no phrase; "flat" if even then
    there is none, or the forest would be too large, and it is empty. unmet: the constraints that were dropped because
    no tree satisfies them.
    """

    forest: Forest
    source: str
    unmet: tuple[Constraint, ...] = ()


class ChartBuilder:
    """Builds the charts of sentences under one grammar. Not for several threads at a time."""

    def __init__(self, grammar: Grammar):
        self.grammar = grammar
        self._builders: dict[bool, ForestBuilder] = {}  # by whether the grammar is relaxed

    def build(
        self, tags: Tags, constraints: Sequence[Constraint] = (), masks: Sequence[Mask] = (), *, relax: bool = True
    ) -> Chart:
        """Return the chart of a sentence.

        tags: for each word its tag, or several with their scores, of which only the tags count here; None stands for
        all tags that training saw, and so does a tag that it did not see. constraints: see `parsing.parse`.
        masks: see `ForestBuilder.build`; where one leaves no tree, the next is tried, and none at all last. relax:
        whether neighbours may stand under no phrase, and constraints may be dropped, where there is no tree.
        """
        words = [self.grammar.lexical_rules(tag) for tag in tags]
        kept = _possible(constraints, self.grammar, len(words))
        chart = self._build(words, kept, masks, relax)
        if chart.source == "flat" and kept and relax:
            wanted, kept = kept, []
            for constraint in wanted:  # those that can be met together with those before them
                if self._build(words, [*kept, constraint], masks, True).forest:
                    kept.append(constraint)
            chart = self._build(words, kept, masks, relax)
        unmet = tuple(constraint for constraint in constraints if constraint not in kept)
        return Chart(chart.forest, chart.source, unmet)

    def _build(
        self, words: Sequence[Sequence[int]], constraints: Sequence[Constraint], masks: Sequence[Mask], relax: bool
    ) -> Chart:
        needed = [one for one in constraints if not is_about_root(one, len(words))]  # the root is in every tree
        # What a constraint requires may have been pruned. Without constraints, what masks leave is good enough.
        groups: list[list[Mask | None]] = [[*masks, None]] if needed else [[*masks], [None]]
        for group in groups:
            for source, is_relaxed in (("chart", False), ("relaxed", True))[: 1 + relax]:
                if is_relaxed not in self._builders:
                    self._builders[is_relaxed] = ForestBuilder(RuleTables(self.grammar, is_relaxed))
                builder = self._builders[is_relaxed]
                bounds = SpanLimits(self.grammar, builder.tables, needed, len(words)) if needed else None
                for mask in group:
                    forest = builder.build(words, bounds, mask() if callable(mask) else mask)
                    if forest:
                        return Chart(forest, source)
        return Chart(Forest(), "flat")


def _possible(constraints: Iterable[Constraint], grammar: Grammar, n_words: int) -> list[Constraint]:
    """Return the constraints that some tree may satisfy."""
    known = set(grammar.labels)
    n_required: Counter[tuple[int, int]] = Counter()
    found = []
    for constraint in constraints:
        span = constraint[:2]
        if constraint.label != ROOT:
            n_required[span] += constraint.is_required
        if may_be_met(constraint, known, n_words) and n_required[span] <= MAX_REQUIRED:
            found.append(constraint)
    return found


def unmet(constraints: Sequence[Constraint], tree: Tree) -> tuple[Constraint, ...]:
    """Return the constraints that a tree does not satisfy. Its root satisfies a required phrase."""
    root, *phrases = tree.spans() if constraints else [()]
    labelled, unlabelled = set(phrases), {phrase[1:] for phrase in phrases}

    def is_there(constraint: Constraint) -> bool:
        span, label = constraint[:2], constraint.label
        at_root = root[1:] == span and (label == ROOT or (label is None and constraint.is_required))
        return at_root or (span in unlabelled if label is None else (label, *span) in labelled)

    return tuple(constraint for constraint in constraints if is_there(constraint) != constraint.is_required)


@dataclass(frozen=True)
class ScoredChart:
    """A chart that is not empty, and the score of each of its edges, float64.

    Scores of trees are natural log probabilities given the sentence: a tree's sum of edge scores minus log Z.
    """

    sentence: ChartSentence
    chart: Chart
    scores: np.ndarray
    grammar: Grammar
    labels: EdgeLabels

    @cached_property
    def log_total(self) -> float:
        """log Z: the log of the sum of exp(score) over all trees."""
        return log_partition(self.chart.forest, self.scores)

    def best(self, decoding: str, threshold: float, temperature: float) -> Parse:
        """Return the tree that a decoding chooses; threshold and temperature as in `ChartConfig`."""
        forest = self.chart.forest
        if decoding == "viterbi":
            score, edges = viterbi(forest, self.scores)
            return self._parse(edges, score)
        probabilities = self.marginals(temperature)
        if decoding == "max_rule":
            choice = max_rule_scores(probabilities)
        else:
            root = (self.grammar.labels.index(ROOT),)
            choice = expected_f_scores(forest, probabilities, self.labels, threshold, root)
        _, edges = viterbi(forest, choice)
        return self._parse(edges, self.sum_of(edges))

    def nbest(self, k: int) -> list[Parse]:
        """Return up to k different trees, best first."""
        parses: dict[tuple, Parse] = {}
        for score, edges in islice(KBest(self.chart.forest, self.scores), MORE_DERIVATIONS * k):
            parse = self._parse(edges, score)
            parses.setdefault((parse.tree.arrays.labels, parse.tree.arrays.sizes), parse)
            if len(parses) == k:
                break
        return list(parses.values())

    def posterior(self, temperature: float) -> Posterior:
        """Return the probabilities of trees and phrases, if the scores of trees are divided by a temperature."""
        phrases = phrase_probabilities(self.chart.forest, self.marginals(temperature), self.labels, self.grammar.labels)
        log_total = log_partition(self.chart.forest, self.scores / temperature) if temperature != 1 else self.log_total
        return Posterior(temperature, log_total - self.log_total / temperature, phrases)

    def marginals(self, temperature: float) -> np.ndarray:
        """Return the probability of each edge, if the scores of trees are divided by a temperature."""
        return marginals(self.chart.forest, self.scores / temperature if temperature != 1 else self.scores)

    def sum_of(self, edges: np.ndarray) -> float:
        """Return the sum of the scores of edges in pre-order, added as Viterbi does, and so with the same rounding."""
        _, n_children = self.chart.forest.rules_of(edges).T
        sums: list[float] = []
        for score, n in zip(self.scores[edges][::-1].tolist(), n_children[::-1].tolist(), strict=True):
            for _ in range(n):
                score += sums.pop()
            sums.append(score)
        return sums[0]

    def log_probability(self, score: float) -> float:
        """Return the log probability of a tree with this sum of edge scores; 0 at most, whatever the rounding."""
        return min(score - self.log_total, 0.0)

    def _parse(self, edges: np.ndarray, score: float) -> Parse:
        words, tags = self.sentence.words, self.sentence.tags
        tree = derived_tree(self.chart.forest, edges, self.grammar, words, tags)
        return Parse(tree, self.log_probability(score), self.chart.source, self.chart.unmet)


# Both choices are Viterbi over other scores. The most probable derivation need not have the most phrases right: many
# other derivations may share phrases that it does not have.
def expected_f_scores(
    forest: Forest, marginals: np.ndarray, labels: EdgeLabels, threshold: float = 0.45, ignored: tuple[int, ...] = ()
) -> np.ndarray:
    """Return the scores of edges under which the best tree has the highest expected gain (Goodman 1996).

    The gain of a tree is the sum of the probabilities of its brackets minus the threshold for each: a bracket is worth
    having if it is more probable than that. 0.5 minimizes the expected number of wrong and missing brackets, a lower
    threshold gives more brackets. ignored: the labels, such as the root's, that do not count. A word's tag makes no
    bracket: among trees with the same gain, those with more probable tags are better.
    """
    gains = labels.expected(forest, marginals) - threshold
    gains[:, list(ignored)] = 0
    is_lexical = forest.child_array()[:, 0] < 0
    return labels.edge_scores(forest, gains) + TAG_GAIN * is_lexical * marginals


def phrase_probabilities(
    forest: Forest, marginals: np.ndarray, labels: EdgeLabels, names: Sequence[str], least: float = 1e-6
) -> dict[Phrase, float]:
    """Return the probability of each phrase that has at least some probability.

    names: the labels of the grammar. A label that a tree may have twice over the same words counts once, at most.
    """
    table, spans = labels.expected(forest, marginals), labels.spans(forest)
    return {
        (names[label], int(spans[row, 0]), int(spans[row, 1])): min(float(table[row, label]), 1.0)
        for row, label in zip(*(table >= least).nonzero(), strict=True)
    }


def max_rule_scores(marginals: np.ndarray) -> np.ndarray:
    """Return the scores of edges under which the best tree has the highest product of the edges' probabilities.

    This is MAX-RULE-PRODUCT of Petrov & Klein (2007, section 3).
    """
    return np.log(np.maximum(marginals, TINY))


def derived_tree(forest: Forest, edges: np.ndarray, grammar: Grammar, words: Sequence[str], tags: Tags) -> Tree:
    """Return the tree with these edges, given in pre-order, in time linear in their number.

    tags: as they were given to build the forest. A word that has one keeps it, others get that of their lexical rule,
    or else the most frequent tag.
    """
    builder = TreeBuilder()
    open_phrases: list[tuple[int, int]] = []  # for each edge that is not complete: children to come, phrases it made
    n_words = 0
    for rule, n_children in forest.rules_of(edges).tolist():
        labels = grammar.labels_made(rule)
        for label in labels:
            builder.open(grammar.labels[label])
        open_phrases.append((n_children, len(labels)))
        if not n_children:
            builder.leaf(_tag(rule, tags[n_words], grammar), words[n_words])
            n_words += 1
        while open_phrases and open_phrases[-1][0] == 0:  # all children are there
            _, n_phrases = open_phrases.pop()
            for _ in range(n_phrases):
                builder.close()
            if open_phrases:
                n_children, n_above = open_phrases[-1]
                open_phrases[-1] = n_children - 1, n_above
    return builder.finish()


def _tag(rule: int, given: Tag, grammar: Grammar) -> str:
    if isinstance(given, str) or (given and rule < 0):
        return best_tag(given)
    if rule < 0:  # a word without a rule
        return grammar.commonest_tag
    return grammar.parts[grammar.lexical[rule - grammar.first_lexical]].categories[-1]


Mask: TypeAlias = "np.ndarray | Callable[[], SpanStates]"
"""What pruning leaves: uint8 (n_spans, n_states), 0 for what is left out; or what finds the states of each span."""


@dataclass(frozen=True)
class ChartSentence:
    """The words of a sentence; for each its tag, several with their distances from the best one, or None."""

    words: Sequence[str]
    tags: Tags


@dataclass(frozen=True)
class ChartExample:
    """A sentence to learn from.

    forest: never empty. gold: the edges of the gold tree in pre-order, int32, as `Forest.find` returns them. number:
    the sentence's place among those of a learner.
    """

    sentence: ChartSentence
    forest: Forest
    gold: np.ndarray
    number: int = 0


# Spans are numbered: they are sorted by their ends, then by their starts, as by `cell_of`.
MAX_WORDS = 1 << 13  # of a sentence, or a piece of one, whose spans have bounds
_FIRSTS = np.arange(MAX_WORDS) * np.arange(1, MAX_WORDS + 1) // 2  # the number of the first span with each end, from 1

Places = TypeVar("Places", int, np.ndarray)


def span_number(start: Places, end: Places) -> Places:
    """Return the number of a span, or of several, given as arrays."""
    return end * (end - 1) // 2 + start


def span_bounds(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the starts and ends of spans."""
    ends = np.searchsorted(_FIRSTS, numbers, side="right")
    return numbers - _FIRSTS[ends - 1], ends


# Sentences that are too long for one chart are parsed in pieces.
def pieces(words: Sequence[str], max_words: int) -> Iterator[tuple[int, int]]:
    """Yield the start and end of pieces with `max_words` at most, cut after punctuation where that is possible."""
    start = 0
    while len(words) - start > max_words:
        end = start + max_words
        places = range(end, start + max_words // 2, -1)
        marks = (place for place in places if not any(character.isalnum() for character in words[place - 1]))
        end = next(marks, end)
        yield start, end
        start = end
    yield start, len(words)


def within(constraints: Sequence[Constraint], start: int, end: int) -> list[Constraint]:
    """Return the constraints on a piece, relative to its first word."""
    return [
        constraint._replace(start=constraint.start - start, end=constraint.end - start)
        for constraint in constraints
        if start <= constraint.start and constraint.end <= end and constraint.label != ROOT
    ]
