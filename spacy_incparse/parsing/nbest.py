"""N-best analyses of a sentence, the probabilities of trees and phrases, and the choice of a tree."""

from __future__ import annotations

import warnings
from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import exp, inf
from typing import Any

from spacy_incparse.parsing.local_trees import LocalTree, Mender
from spacy_incparse.parsing.parse import (
    Constraints,
    Input,
    Parse,
    Tags,
    check_n_analyses,
    checked_constraints,
    required_spans,
)
from spacy_incparse.parsing.parser import N_ANALYSES, N_SPARE, Parser
from spacy_incparse.settings import MOST, Settings, check_choice, check_number, check_range
from spacy_incparse.trees.arrays import Phrase
from spacy_incparse.trees.builder import tree_of_phrases
from spacy_incparse.trees.labels import ROOT
from spacy_incparse.trees.tree import Tree

# How many hypotheses the widest search keeps for each tree asked for: to add lower-scoring trees, and if any is missing
WIDER, WIDEST = 2, 16


class NBestSearch:
    """Find the n-best analyses by a search that prunes by rank alone.

    The parser's own search drops hypotheses that score far below the best, but probabilities need them.

    with_better: whether trees that score higher than the parser's own are in the lists, too, as rerankers want them. By
    default, the parser's own tree is the best of its list, if it is the highest-scoring one that its search finds.
    """

    def __init__(self, parser: Parser, *, with_better: bool = False):
        self.parser, self.with_better = parser, with_better
        self._searches: dict[int, Parser] = {}

    def analyses(
        self, words: Sequence[str], tags: Tags, constraints: Constraints = (), *more: Any, n: int | None = None
    ) -> list[Parse]:
        """Return the analyses of a sentence: the parser's own, then the others by descending score; see `beside`.

        more: what the parser's `parse` takes beyond constraints.
        """
        constraints = list(constraints)
        if constraints or more or n == 1:
            best = self.parser.parse(words, tags, constraints, *more)
            return self.beside(best, words, tags, constraints, *more, n=n)
        wide = self._wide_parser(N_ANALYSES)
        best, found = self.parser.parse_beside(wide, words, tags, _checked(n), with_better=self.with_better)
        return self._list(best, found, (words, tags, constraints), n)

    def beside(
        self,
        best: Parse,
        words: Sequence[str],
        tags: Tags,
        constraints: Constraints = (),
        *more: Any,
        n: int | None = None,
    ) -> list[Parse]:
        """Return the parser's own analysis of a sentence, then the others by descending score.

        If the parser returns its highest-scoring tree, higher-scoring trees from the wider search are left out, so that
        the parser's tree remains the best; in lists `with_better` trees they follow it. A flat tree is returned alone.

        n: the number of analyses. A search finds up to `N_ANALYSES`; where these are fewer than n, wider searches add
        trees that score no higher than those before, so that a shorter list is the beginning of a longer one. Only
        where such trees are too few, the others that wider searches find come between. The widest keeps at least 16n
        hypotheses. By default, all analyses of one search are returned.
        """
        n_trees = min(_checked(n) + N_SPARE, N_ANALYSES)
        if best.source == "flat" or n == 1:
            return [best]
        found = self._wide_parser(N_ANALYSES).nbest(words, tags, n_trees, constraints, *more)
        return self._list(best, found, (words, tags, constraints, *more), n)

    def _list(self, best: Parse, found: Sequence[Parse], sentence: Input, n: int | None) -> list[Parse]:
        """Return the parser's own analysis, then others that a search has found; if too few, those of wider searches.

        Trees of wider searches come below the others, if these are enough.
        """
        if best.source == "flat":
            return [best]
        others = self._not_above(best, found)
        if n is None or len(others) + 1 >= n:
            return [best, *others][: n or N_ANALYSES]
        beam_size = N_ANALYSES
        found = self._found(sentence, beam_size)
        others = self._not_above(best, found)
        everything = {parse.tree: parse for parse in others}
        while len(others) + 1 < n and beam_size < max(n, N_ANALYSES) * (WIDER if len(everything) + 1 >= n else WIDEST):
            beam_size, n_before = 2 * beam_size, len(found)
            found = self._found(sentence, beam_size)
            if len(found) <= n_before:
                break
            new = [parse for parse in self._not_above(best, found) if parse.tree not in everything]
            lowest = others[-1].score if others else inf
            others += [parse for parse in new if parse.score <= lowest]
            everything |= {parse.tree: parse for parse in new}
        by_score = sorted(everything.values(), key=lambda parse: -parse.score)
        return [best, *(others if len(others) + 1 >= n else by_score)][:n]

    def _not_above(self, best: Parse, found: Sequence[Parse]) -> list[Parse]:
        """Return the analyses other than the parser's own, without those that would replace it as the best."""
        limit = inf if self.with_better or not self.parser.answers_with_best else best.score
        return [parse for parse in found if parse.source != "flat" and parse.score <= limit and parse.tree != best.tree]

    def _found(self, sentence: Input, beam_size: int) -> list[Parse]:
        """Return the analyses of a search that keeps so many hypotheses."""
        words, tags, *more = sentence
        found = self._wide_parser(beam_size).nbest(words, tags, beam_size, *more)
        return [parse for parse in found if parse.source != "flat"]

    def _wide_parser(self, beam_size: int) -> Parser:
        """Return the parser with a search that keeps so many hypotheses."""
        if beam_size not in self._searches:
            self._searches[beam_size] = self.parser.with_wide_search(beam_size)
        return self._searches[beam_size]


def _checked(n: int | None) -> int:
    """Return the number of analyses to find in one search. Raises ValueError for a number below 1."""
    if n is None:
        return N_ANALYSES
    check_n_analyses(n)
    return min(n, N_ANALYSES)


def probabilities(scores: Sequence[float], temperature: float) -> list[float]:
    """Return the softmax of the scores; the probabilities sum to 1.

    Scores are sums of weights. A softmax turns them into probabilities, at a temperature T fitted on held-out sentences
    (training/temperature.py): p(i) = exp(score(i) / T) / sum over j of exp(score(j) / T).
    """
    top = max(scores)
    weights = [exp((score - top) / temperature) for score in scores]
    total = sum(weights)
    return [weight / total for weight in weights]


def phrase_probabilities(trees: Iterable[Tree], shares: Iterable[float]) -> dict[Phrase, float]:
    """Return the probability of each phrase: the sum of the probabilities of the trees that contain it."""
    sums: dict[Phrase, float] = {}
    for tree, share in zip(trees, shares, strict=True):
        for phrase in set(tree.spans()):
            sums[phrase] = sums.get(phrase, 0.0) + share
    return {phrase: min(total, 1.0) for phrase, total in sums.items()}


def phrases_of(parses: Sequence[Parse], temperature: float) -> dict[Phrase, float]:
    """Return the probability of each phrase of a sentence's analyses, given a temperature."""
    return phrase_probabilities(
        [parse.tree for parse in parses], probabilities([parse.score for parse in parses], temperature)
    )


# The most probable tree is the one most likely to be right as a whole. Usually the aim is to get as many phrases right
# as possible, and then another tree can be better: one whose phrases many less probable trees share.


def max_expected_f(parses: Sequence[Parse], temperature: float) -> Parse:
    """Return the tree with the highest expected F against all trees.

    Expected F of t = 2 sum over t's phrases of P(phrase) / (phrases of t + expected phrases of a tree), where a tree's
    probability is proportional to exp(score / temperature). A temperature above that of the probabilities takes into
    account that models are overconfident in their best tree. Ties go to the first tree.
    """
    top = max(parse.score for parse in parses)
    weights = [exp((parse.score - top) / temperature) for parse in parses]
    values = expected_f_values([parse.tree for parse in parses], weights)
    return parses[values.index(max(values))]


def expected_f_values(trees: Sequence[Tree], weights: Sequence[float]) -> list[float]:
    """Return the expected F of each tree, if the probabilities of the trees are proportional to these weights."""
    numbers: dict[Phrase, int] = {}
    rows = [{numbers.setdefault(phrase, len(numbers)) for phrase in tree.spans()} for tree in trees]
    posterior = [0.0] * (1 + max((number for row in rows for number in row), default=-1))
    for weight, row in zip(weights, rows, strict=True):
        for number in row:
            posterior[number] += weight
    total = sum(weights)
    n_expected = sum(posterior) / total
    # Summed in sorted order, so that trees whose phrases are equally probable are tied.
    sums = (sum(sorted([posterior[number] for number in row])) for row in rows)
    return [2 * common / total / (len(row) + n_expected) for common, row in zip(sums, rows, strict=True)]


class ChoosingParser(Parser):
    """A parser that returns the tree that its search settings choose."""

    config: ChoiceSettings

    @property
    def answers_with_best(self) -> bool:
        """Whether its tree is the highest-scoring one that it finds, and not one with a better expected F."""
        return self._choice_temperature is None

    def parse(self, words: Sequence[str], tags: Tags, constraints: Constraints = ()) -> Parse:
        """Return the tree of a sentence that the setting `choose` asks for, under constraints.

        Without a temperature, the highest-scoring tree is returned, with a warning. Raises ValueError if there are no
        words, or not as many tags as words.
        """
        temperature = self._choice_temperature
        if temperature is None:
            if not self.config.chooses_by_score:
                warnings.warn(_NO_TEMPERATURE.format(self.config.choose), stacklevel=2)
            return self.nbest(words, tags, 1, constraints)[0]
        parses = self._candidates(words, tags, constraints)
        if len(parses) < 2:
            return parses[0]
        if self.config.choose == "expected_f":
            return max_expected_f(parses, temperature)
        # The tree of the highest expected gain that can be made of the phrases of trees, with its own score. If the
        # grammar cannot derive it, its score is the lowest one of the trees.
        trees = [parse.tree for parse in parses]
        wanted = checked_constraints(constraints, len(trees[0].words))
        required = required_spans(wanted, parses[0].unmet)
        phrases = phrases_of(parses, temperature)
        threshold = self.config.choose_threshold
        tree = Recombination(trees, phrases, threshold, required, self.local_trees).best_tree()
        for parse in parses:
            if parse.tree == tree:
                return parse
        score = self.score(tree.words, tags, tree).score
        return replace(parses[0], tree=tree, score=parses[-1].score if score is None else score)

    def _candidates(self, words: Sequence[str], tags: Tags, constraints: Constraints) -> list[Parse]:
        """Return the trees to choose from, best first; all miss the same constraints."""
        n = self.config.choose_trees
        if self.config.chooses_from_lists:
            found = self._lists.analyses(words, tags, constraints, n=n)
        else:
            found = self.nbest(words, tags, n, constraints)
        comparable = [parse for parse in found if parse.unmet == found[0].unmet]
        return sorted(comparable, key=lambda parse: -parse.score)

    @cached_property
    def _lists(self) -> NBestSearch:
        return NBestSearch(self.with_search(choose="score"), with_better=True)

    @property
    def _choice_temperature(self) -> float | None:
        """The temperature of a choice that is not by score; None if there is none, or if there is no such choice."""
        if self.config.chooses_by_score:
            return None
        return self.temperature if self.config.choose_temperature is None else self.config.choose_temperature


_NO_TEMPERATURE = (
    "choose is {!r}, but the model has no temperature to turn its scores into probabilities: the tree with the "
    "highest score is returned. Fit a temperature with the component's calibrate(), or set choose_temperature"
)


CHOICES = ("score", "expected_f", "recombined")
SOURCES = ("search", "lists")
CHOICE_SETTINGS = ("choose", "choose_from", "choose_trees", "choose_temperature", "choose_threshold")


@dataclass(frozen=True, kw_only=True)
class ChoiceSettings(Settings):
    """Search settings of all parsers: the choice of a sentence's tree.

    choose: "score" returns the tree with the highest score; "expected_f" the one of several with the best expected F;
        "recombined" a new tree of their phrases, whose expected F is better still.
    choose_from: "search" chooses among the trees at the end of the search, which are more in a wider one; "lists" among
        those of the n-best lists, too, in three times the time or more; None: "lists" for "expected_f", "search" for
        "recombined".
    choose_trees: how many trees to choose from, at most.
    choose_temperature: divides the scores for probabilities; higher values make trees more equally probable; None: the
        temperature that was fitted on held-out trees.
    choose_threshold: for "recombined", the probability from which on a phrase is worth having; lower values give more
        phrases.
    """

    choose: str = "score"
    choose_from: str | None = None
    choose_trees: int = 50
    choose_temperature: float | None = None
    choose_threshold: float = 0.45

    def __post_init__(self) -> None:
        check_choice("choose", self.choose, CHOICES)
        check_choice("choose_from", self.choose_from, SOURCES, may_be_none=True)
        check_number("choose_trees", self.choose_trees, 1, MOST)
        check_range("choose_temperature", self.choose_temperature, 0.01, 1e6, may_be_none=True)
        check_range("choose_threshold", self.choose_threshold, 0.05, 0.95)

    @property
    def chooses_by_score(self) -> bool:
        """Whether the tree is simply the highest-scoring one."""
        return self.choose == "score" or self.choose_trees == 1

    @property
    def chooses_from_lists(self) -> bool:
        """Whether the trees to choose from are those of the n-best lists."""
        return self.choose_from == "lists" or (self.choose_from is None and self.choose == "expected_f")


FORCED = 1.0  # the least gain of a span that must be there; it crosses no other one, so any gain above 0 does


@dataclass(frozen=True)
class Recombination:
    """The phrases of a sentence to make a tree of.

    trees: those that the phrases are from, best first. phrases: the probability of each phrase. threshold: the
    probability from which on a phrase is worth having. required: spans that must be phrases. seen: the local trees of
    training, see `parsing/local_trees.py`; empty: unknown.

    Phrases of different trees are recombined, so that the result may be none of these trees (Sagae & Lavie 2006; Fossum
    & Knight 2009). The gain of a tree is the sum of the probabilities of its phrases minus a threshold for each
    (Goodman 1996): a tree with the best sum for the right threshold, about half of the F that can be reached, has the
    best expected F. A local tree that training has not seen costs the threshold, too.
    """

    trees: Sequence[Tree]
    phrases: Mapping[Phrase, float]
    threshold: float
    required: Sequence[Span] = ()
    seen: Collection[LocalTree] = ()

    def gain(self, tree: Tree) -> float:
        """Return the sum of the probabilities of a tree's phrases, minus the threshold for each; the root is free.

        Each unseen local tree costs the threshold, too.
        """
        spans = tree.spans()
        phrases = dict.fromkeys(spans[1:])
        total = sum(self.phrases.get(phrase, 0.0) - self.threshold for phrase in phrases)
        return total - self._mender.price(spans, tree.tags)

    def best_tree(self) -> Tree:
        """Return the tree of the highest gain, with the words and tags of the first tree.

        Where that of the best phrases has unseen local trees, it is mended, and a better one may be missed; but none of
        the given trees with these tags has a higher gain than what is returned.
        """
        labels = self._labels()
        gains = {span: sum(gain for _, gain in found) for span, found in labels.items()}
        for span in self.required:
            if span in gains:
                gains[span] = max(gains[span], FORCED)
        words, tags = self.trees[0].words, self.trees[0].tags
        phrases = [
            (ROOT, 0, len(words)),
            *(
                (label, *span)
                for span in best_spans(gains)
                for label in self._ordered(span, [label for label, _ in labels[span]])
            ),
        ]
        if not self._mender.unseen(phrases, tags):
            return tree_of_phrases(phrases, words, tags)
        mended = tree_of_phrases(self._mender.mended(phrases, tags), words, tags)
        return max(mended, *(tree for tree in self.trees if tree.tags == tags), key=self.gain)

    @cached_property
    def _mender(self) -> Mender:
        return Mender(self.seen, self.phrases, self.threshold, self.required)

    def _labels(self) -> dict[Span, list[tuple[str, float]]]:
        """Return the labels that are worth having over each span, with their gains; for required spans at least one."""
        found: dict[Span, list[tuple[str, float]]] = {}
        for (label, start, end), probability in self.phrases.items():
            if probability > self.threshold and label != ROOT:
                found.setdefault((start, end), []).append((label, probability - self.threshold))
        for span in self.required:
            if span not in found:  # the most probable one, unless the root is there, which satisfies a constraint
                over = [(-p, label) for (label, *bounds), p in self.phrases.items() if tuple(bounds) == span]
                if over and all(label != ROOT for _, label in over):
                    probability, label = min(over)
                    found[span] = [(label, -probability - self.threshold)]
        return found

    def _ordered(self, span: Span, labels: list[str]) -> list[str]:
        """Return the labels over a span from the highest to the lowest, as in the first tree that has all of them.

        If no tree has them, those that are more probable are higher.
        """
        if len(labels) < 2:
            return labels
        for tree in self.trees:
            order = list(dict.fromkeys(label for label, start, end in tree.spans() if (start, end) == span))
            if set(labels) <= set(order):
                return [label for label in order if label in labels]
        return sorted(labels, key=lambda label: (-self.phrases[label, span[0], span[1]], label))


Span = tuple[int, int]


def best_spans(gains: Mapping[Span, float]) -> list[Span]:
    """Return the spans of which no two cross and whose gains have the highest sum, sorted; only gains above 0 count.

    A span that crosses no other one is always among them. The others are few, and decided by groups: spans of different
    groups do not cross. value(s) = gain(s) + the highest sum of value(t) over disjoint t within s.
    """
    spans = sorted((span for span, gain in gains.items() if gain > 0), key=lambda span: (span[0], -span[1]))
    crossing: dict[Span, list[Span]] = {}  # by span that crosses others, all of these
    for place, (start, end) in enumerate(spans):
        for other in spans[place + 1 :]:
            if other[0] >= end:
                break
            if start < other[0] and end < other[1]:
                crossing.setdefault((start, end), []).append(other)
                crossing.setdefault(other, []).append((start, end))
    chosen = [span for span in spans if span not in crossing]
    seen: set[Span] = set()
    for first in crossing:
        group = [] if first in seen else [first]
        seen.add(first)
        for span in group:  # grows while it is read
            new = [other for other in crossing[span] if other not in seen]
            seen.update(new)
            group += new
        values: dict[Span, float] = {}
        parts: dict[Span, list[Span]] = {}
        for span in sorted(group, key=lambda span: (span[1] - span[0], span)):
            value, parts[span] = _best_disjoint([t for t in values if span[0] <= t[0] and t[1] <= span[1]], values)
            values[span] = gains[span] + value
        best = _best_disjoint(values, values)[1]
        for span in best:  # grows while it is read
            best += parts[span]
        chosen += best
    return sorted(chosen, key=lambda span: (span[0], -span[1]))


def _best_disjoint(spans: Iterable[Span], values: Mapping[Span, float]) -> tuple[float, list[Span]]:
    """Return the highest sum of values of spans that do not overlap, and these spans (weighted interval scheduling)."""
    ordered = sorted(spans, key=lambda span: (span[1], span))
    ends = [end for _, end in ordered]
    sums, n_before = [0.0], []  # sums[k]: the best of the first k spans
    for place, span in enumerate(ordered):
        before = bisect_right(ends, span[0], 0, place)  # the spans that end before this one begins
        with_span = sums[before] + values[span]
        n_before.append(before if with_span > sums[-1] else -1)
        sums.append(max(with_span, sums[-1]))
    chosen: list[Span] = []
    left = len(ordered)
    while left:
        before = n_before[left - 1]
        if before >= 0:
            chosen.append(ordered[left - 1])
        left = before if before >= 0 else left - 1
    return sums[-1], chosen
