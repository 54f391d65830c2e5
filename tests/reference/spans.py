"""Span classifiers by their definition: all binary trees one by one, and features as tuples."""

from math import exp, log1p

from spacy_incparse.chart.templates import PRUNER_GROUPS
from tests.reference.features import MASK, mix64

BEGIN, END, GATE, SPAN, WORD = PRUNER_GROUPS.values()
PADDING = 3  # words beyond both ends of a span


def bracketings(i, j):
    """All binary trees over the words from i to j, as sets of spans of several words."""
    if j == i + 1:
        return [frozenset()]
    found = []
    for k in range(i + 1, j):
        found += [left | right | {(i, j)} for left in bracketings(i, k) for right in bracketings(k, j)]
    return found


def posteriors(n_words, scores, is_open):
    """The probability of each span; None if no tree has open spans only."""
    trees = [tree for tree in bracketings(0, n_words) if all(is_open[span] for span in tree)]
    weights = [exp(sum(scores[span] for span in tree)) for tree in trees]
    if not trees:
        return None
    return {
        span: sum(weight for tree, weight in zip(trees, weights, strict=True) if span in tree) / sum(weights)
        for span in scores
    }


class SpanModel:
    """The scores of spans from the weights of a `PrunerScorer`."""

    def __init__(self, tables, n_labels, codes):
        self.gate, self.tree, labels = tables
        self.labels = labels.reshape(-1, n_labels) if n_labels else labels
        self.codes = [(0, 0)] * PADDING + codes.tolist() + [(0, 0)] * PADDING

    def rows(self, i, j, groups, size):
        """The rows of a table of that size that the features of a span have."""
        atoms, seed, found = self.atoms(i, j), 0, []
        for group in (BEGIN, END, GATE, SPAN, WORD):
            for template in group:
                seed += 1
                if group in groups:
                    hashed = mix64(seed)
                    for atom in template.split():
                        hashed = ((hashed ^ atoms[atom]) * 0x9E3779B97F4A7C15) & MASK
                        hashed ^= hashed >> 32
                    found.append(hashed % size)
        return found

    def atoms(self, i, j):
        """What there is to see at a span."""
        found = {}
        for k in range(1, PADDING + 1):
            places = {"lo": i - k, "li": i + k - 1, "ri": j - k, "ro": j + k - 1}
            for side, place in places.items():
                tag, word = self.codes[place + PADDING]
                found[f"{side}{k}.t"], found[f"{side}{k}.w"] = tag, word
        found["length"] = found["shape"] = length_step(j - i)
        tags = [tag for tag, _ in self.codes[i + PADDING : j + PADDING]]
        for tag in tags if len(tags) <= 4 else (tags[0], tags[-1], tags[1], tags[-2]):
            found["shape"] = ((found["shape"] ^ tag) * 0x9E3779B1) & 0xFFFFFFFF
        return found

    def gate_score(self, i, j):
        """The score of a span on its own."""
        return sum(float(self.gate[row]) for row in self.rows(i, j, (BEGIN, END, GATE), len(self.gate)))

    def tree_score(self, i, j):
        """Its part in the score of a tree."""
        return sum(float(self.tree[row]) for row in self.rows(i, j, (BEGIN, END, SPAN), len(self.tree)))

    def label_scores(self, i, j):
        """The scores of its labels."""
        groups = (WORD,) if j == i + 1 else (BEGIN, END, SPAN)
        return sum(self.labels[row].astype(float) for row in self.rows(i, j, groups, len(self.labels)))

    def loss(self, gold, n_words):
        """The loss of a sentence. gold: the labels of each span that has a node."""
        spans = [(i, j) for j in range(2, n_words + 1) for i in range(j - 1)]
        total = sum(log_loss(self.gate_score(*span), span in gold) for span in spans)
        scores = {span: self.tree_score(*span) for span in spans}
        tree = [span for span in gold if span in scores]
        weights = [exp(sum(scores[span] for span in other)) for other in bracketings(0, n_words)]
        total -= sum(scores[span] for span in tree) - log1p(sum(weights) - 1)
        for span in [*tree, *((k, k + 1) for k in range(n_words))]:
            for label, score in enumerate(self.label_scores(*span)):
                total += log_loss(score, label in gold.get(span, ()))
        return total


def log_loss(score, is_right):
    """The negative log probability of being right."""
    return log1p(exp(-score if is_right else score))


def length_step(length):
    """The length up to 7, then numbers of steps."""
    step = 0
    while length > 7:
        length, step = length * 3 // 4, step + 8
    return length + step
