"""The opinions of several parsers on a sentence, combined to one tree, or to a list of trees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from math import exp, log

from spacy_incparse.combined.members import Opinion
from spacy_incparse.parsers.constraints import Constraint, required_spans
from spacy_incparse.parsers.parse import Parse
from spacy_incparse.parsers.posterior import Posterior
from spacy_incparse.parsers.recombination import Recombination
from spacy_incparse.trees.arrays import Phrase
from spacy_incparse.trees.tree import Tree


class Combination:
    """Trees of a sentence and the probabilities of their phrases, averaged over the members.

    opinions: those that can be combined (`agreeing`). threshold: the probability from which on a phrase is worth
    having. constraints: those of the sentence.
    """

    def __init__(self, opinions: Sequence[Opinion], threshold: float, constraints: Sequence[Constraint] = ()):
        self.opinions, self.threshold = opinions, threshold
        self.unmet = opinions[0].parses[0].unmet
        self._required = required_spans(constraints, self.unmet)

    @property
    def source(self) -> str:
        """The source of the tree: that of the members' best trees if it is the same for all, otherwise "beam"."""
        sources = {opinion.parses[0].source for opinion in self.opinions}
        return sources.pop() if len(sources) == 1 else "beam"

    @cached_property
    def phrases(self) -> dict[Phrase, float]:
        """The probability of each phrase that some member proposes."""
        total = sum(opinion.weight for opinion in self.opinions)
        sums: dict[Phrase, float] = {}
        for opinion in self.opinions:
            share = opinion.weight / total
            for phrase, probability in opinion.phrases.items():
                sums[phrase] = sums.get(phrase, 0.0) + share * probability
        return sums

    def gain(self, tree: Tree) -> float:
        """Return the sum of the probabilities of a tree's phrases, minus the threshold for each; the root is free."""
        return self._recombination.gain(tree)

    def best(self) -> Parse:
        """Return the tree of the highest gain, recombined from the phrases of all members."""
        first = self.opinions[0].parses[0]
        if first.source == "flat":
            return first
        tree = self._recombination.best_tree()
        return Parse(tree, self.gain(tree), self.source, self.unmet)

    def nbest(self) -> list[Parse]:
        """Return the best tree, then all others of the members' lists by descending gain; ties: the first."""
        best = self.best()
        if best.source == "flat":
            return [best]
        known = {tuple(best.tree.spans())}
        others = []
        for parse in self._parses():
            key = tuple(parse.tree.spans())
            if key not in known:
                known.add(key)
                others.append(Parse(parse.tree, self.gain(parse.tree), parse.source, self.unmet))
        return [best, *sorted(others, key=lambda parse: -parse.score)]

    def posterior(self, temperature: float) -> Posterior | None:
        """Return the averaged probabilities of phrases, and those of trees among all trees of the lists; None if flat.

        temperature: turns expected gains into probabilities of whole trees.
        """
        parses = self.nbest()
        if parses[0].source == "flat":
            return None
        ratios = [parse.score / temperature for parse in parses]
        top = max(ratios)
        return Posterior(temperature, top + log(sum(exp(ratio - top) for ratio in ratios)), self.phrases)

    @cached_property
    def _recombination(self) -> Recombination:
        trees = [parse.tree for parse in self._parses()]
        return Recombination(trees, self.phrases, self.threshold, self._required)

    def _parses(self) -> Iterator[Parse]:
        return (parse for opinion in self.opinions for parse in opinion.parses)
