"""Build the tree of the highest expected gain from phrases that several trees propose.

Phrases of different trees are recombined, so that the result may be none of these trees (Sagae & Lavie 2006; Fossum &
Knight 2009). The gain of a tree is the sum of the probabilities of its phrases minus a threshold for each (Goodman
1996): a tree with the best sum for the right threshold, about half of the F that can be reached, has the best
expected F.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from spacy_incparse.trees.arrays import Phrase
from spacy_incparse.trees.builder import tree_of_phrases
from spacy_incparse.trees.labels import ROOT
from spacy_incparse.trees.tree import Tree

FORCED = 1.0  # the least gain of a span that must be there; it crosses no other one, so any gain above 0 does


@dataclass(frozen=True)
class Recombination:
    """The phrases of a sentence to make a tree of.

    trees: those that the phrases are from, best first. phrases: the probability of each phrase. threshold: the
    probability from which on a phrase is worth having. required: spans that must be phrases.
    """

    trees: Sequence[Tree]
    phrases: Mapping[Phrase, float]
    threshold: float
    required: Sequence[Span] = ()

    def gain(self, tree: Tree) -> float:
        """Return the sum of the probabilities of a tree's phrases, minus the threshold for each; the root is free."""
        phrases = dict.fromkeys(tree.spans()[1:])
        return sum(self.phrases.get(phrase, 0.0) - self.threshold for phrase in phrases)

    def best_tree(self) -> Tree:
        """Return the tree of the highest gain, with the words and tags of the first tree."""
        labels = self._labels()
        gains = {span: sum(gain for _, gain in found) for span, found in labels.items()}
        for span in self.required:
            if span in gains:
                gains[span] = max(gains[span], FORCED)
        words, tags = self.trees[0].words, self.trees[0].tags
        phrases = [
            (label, *span)
            for span in best_spans(gains)
            for label in self._ordered(span, [label for label, _ in labels[span]])
        ]
        return tree_of_phrases([(ROOT, 0, len(words)), *phrases], words, tags)

    def _labels(self) -> dict[Span, list[tuple[str, float]]]:
        """Return the labels that are worth having over each span, with their gains; for required spans at least one."""
        found: dict[Span, list[tuple[str, float]]] = {}
        for (label, start, end), probability in self.phrases.items():
            if probability > self.threshold and label != ROOT:
                found.setdefault((start, end), []).append((label, probability - self.threshold))
        for span in self.required:
            if span not in found:
                found |= self._most_probable(span)
        return found

    def _most_probable(self, span: Span) -> Mapping[Span, list[tuple[str, float]]]:
        """Return the most probable label over a span; {} if only the root is there, which satisfies a constraint."""
        over = [(p, label) for (label, start, end), p in self.phrases.items() if (start, end) == span]
        below_root = [(-p, label) for p, label in over if label != ROOT]
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
        for tree in self.trees:
            order = list(dict.fromkeys(label for label, start, end in tree.spans() if (start, end) == span))
            if set(labels) <= set(order):
                return [label for label in order if label in labels]
        return sorted(labels, key=lambda label: (-self.phrases[label, span[0], span[1]], label))


Span = tuple[int, int]


def best_spans(gains: Mapping[Span, float]) -> list[Span]:
    """Return the spans of which no two cross and whose gains have the highest sum, sorted; only gains above 0 count.

    A span that crosses no other one is always among them. The others are few, and decided group by group.
    """
    spans = sorted((span for span, gain in gains.items() if gain > 0), key=lambda span: (span[0], -span[1]))
    neighbors = _crossing(spans)
    chosen = [span for span in spans if span not in neighbors]
    for group in _components(neighbors):
        chosen += _best_of_group(group, gains)
    return sorted(chosen, key=lambda span: (span[0], -span[1]))


def _crossing(spans: Sequence[Span]) -> dict[Span, list[Span]]:
    """Return for each span that crosses others all of these; `spans`: by start, longer ones first."""
    neighbors: dict[Span, list[Span]] = {}
    for place, (start, end) in enumerate(spans):
        for other in spans[place + 1 :]:
            if other[0] >= end:
                break
            if start < other[0] and end < other[1]:
                neighbors.setdefault((start, end), []).append(other)
                neighbors.setdefault(other, []).append((start, end))
    return neighbors


def _components(neighbors: Mapping[Span, Sequence[Span]]) -> Iterable[list[Span]]:
    """Yield groups of spans: those of different groups do not cross."""
    seen: set[Span] = set()
    for first in neighbors:
        if first in seen:
            continue
        seen.add(first)
        group = [first]
        for span in group:  # grows while it is read
            new = [other for other in neighbors[span] if other not in seen]
            seen.update(new)
            group += new
        yield group


def _best_of_group(group: Collection[Span], gains: Mapping[Span, float]) -> list[Span]:
    """Return the best spans of a group.

    value(s) = gain(s) + the highest sum of value(t) over disjoint t within s; shorter spans come first.
    """
    values: dict[Span, float] = {}
    parts: dict[Span, list[Span]] = {}
    for span in sorted(group, key=lambda span: (span[1] - span[0], span)):
        value, parts[span] = _best_disjoint([t for t in values if span[0] <= t[0] and t[1] <= span[1]], values)
        values[span] = gains[span] + value
    _, chosen = _best_disjoint(values, values)
    for span in chosen:  # grows while it is read
        chosen += parts[span]
    return chosen


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
