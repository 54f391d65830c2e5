"""The opinions of several parsers on a sentence, combined to one tree, or to a list of trees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import exp, log

from spacy_incparse.combined.members import Opinion
from spacy_incparse.combined.recombination import Span, best_spans
from spacy_incparse.parsers.constraints import Constraint
from spacy_incparse.parsers.nbest import Phrase
from spacy_incparse.parsers.parse import ROOT_LABEL, Parse
from spacy_incparse.parsers.posterior import Posterior
from spacy_incparse.trees.builder import TreeBuilder
from spacy_incparse.trees.tree import Tree

FORCED = 1.0  # the least gain of a span that must be there; it crosses no other one, so any gain above 0 does


class Combination:
    """Trees of a sentence and the probabilities of their phrases, averaged over the members.

    opinions: those that can be combined (`agreeing`). threshold: the probability from which on a phrase is worth
    having. constraints: those of the sentence.
    """

    def __init__(self, opinions: Sequence[Opinion], threshold: float, constraints: Sequence[Constraint] = ()):
        self.opinions, self.threshold = opinions, threshold
        self.unmet = opinions[0].parses[0].unmet
        self._required = [c[:2] for c in constraints if c.is_required and c not in self.unmet]

    @property
    def source(self) -> str:
        """The source of the tree: "relaxed" if all members' best trees are, "flat" if there is none."""
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
        phrases = dict.fromkeys(tree.spans()[1:])
        return sum(self.phrases.get(phrase, 0.0) - self.threshold for phrase in phrases)

    def best(self) -> Parse:
        """Return the tree of the highest gain, recombined from the phrases of all members."""
        first = self.opinions[0].parses[0]
        if first.source == "flat":
            return first
        labels = self._labels()
        gains = {span: sum(gain for _, gain in found) for span, found in labels.items()}
        for span in self._required:
            if span in gains:
                gains[span] = max(gains[span], FORCED)
        chosen = [(span, self._ordered(span, [label for label, _ in labels[span]])) for span in best_spans(gains)]
        tree = _tree(first.tree.words, first.tree.tags, chosen)
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

    def _parses(self) -> Iterator[Parse]:
        return (parse for opinion in self.opinions for parse in opinion.parses)

    def _labels(self) -> dict[Span, list[tuple[str, float]]]:
        """Return the labels that are worth having over each span, with their gains; for required spans at least one."""
        found: dict[Span, list[tuple[str, float]]] = {}
        for (label, start, end), probability in self.phrases.items():
            if probability > self.threshold and label != ROOT_LABEL:
                found.setdefault((start, end), []).append((label, probability - self.threshold))
        for span in self._required:
            if span not in found:
                found |= self._most_probable(span)
        return found

    def _most_probable(self, span: Span) -> Mapping[Span, list[tuple[str, float]]]:
        """Return the most probable label over a span; {} if only the root is there, which satisfies a constraint."""
        over = [(p, label) for (label, start, end), p in self.phrases.items() if (start, end) == span]
        below_root = [(-p, label) for p, label in over if label != ROOT_LABEL]
        if not below_root or len(below_root) < len(over):
            return {}
        probability, label = min(below_root)
        return {span: [(label, -probability - self.threshold)]}

    def _ordered(self, span: Span, labels: list[str]) -> list[str]:
        """Return the labels over a span from the highest to the lowest, as in the first tree that has all of them.

        If no tree has them, those that are more probable are higher.
        """
        if len(labels) < 2:
            return labels
        for parse in self._parses():
            order = list(dict.fromkeys(label for label, start, end in parse.tree.spans() if (start, end) == span))
            if set(labels) <= set(order):
                return [label for label in order if label in labels]
        return sorted(labels, key=lambda label: (-self.phrases[label, span[0], span[1]], label))


def _tree(words: Sequence[str], tags: Sequence[str], chosen: Iterable[tuple[Span, Sequence[str]]]) -> Tree:
    """Return the tree with these labels over spans, which are nested and come in pre-order."""
    builder = TreeBuilder()
    builder.open(ROOT_LABEL)
    ends: list[int] = []
    waiting = list(chosen)[::-1]
    for place, (word, tag) in enumerate(zip(words, tags, strict=True)):
        while waiting and waiting[-1][0][0] == place:
            (_, end), labels = waiting.pop()
            for label in labels:
                builder.open(label)
                ends.append(end)
        builder.leaf(tag, word)
        while ends and ends[-1] == place + 1:
            builder.close()
            ends.pop()
    builder.close()
    return builder.finish()
