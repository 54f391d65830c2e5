"""Build the tree of the highest expected gain from phrases that several trees propose.

Phrases of different trees are recombined, so that the result may be none of these trees (Sagae & Lavie 2006; Fossum &
Knight 2009). The gain of a tree is the sum of the probabilities of its phrases minus a threshold for each (Goodman
1996): a tree with the best sum for the right threshold, about half of the F that can be reached, has the best
expected F.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spacy_incparse.parsers.crossing_spans import Span, best_spans
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
