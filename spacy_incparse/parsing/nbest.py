"""N-best analyses of a sentence, and the probabilities of trees and phrases.

Scores are sums of weights. A softmax turns them into probabilities, at a temperature T fitted on held-out sentences
(training/temperature.py): p(i) = exp(score(i) / T) / sum over j of exp(score(j) / T).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import exp, inf
from typing import Any

from spacy_incparse.parsing.parse import Constraints, Input, Parse, Tags, check_n_analyses
from spacy_incparse.parsing.parser import N_ANALYSES, N_SPARE, Parser
from spacy_incparse.trees.arrays import Phrase
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
    """Return the softmax of the scores; the probabilities sum to 1."""
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
