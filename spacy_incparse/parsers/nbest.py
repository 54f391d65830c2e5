"""Several analyses of a sentence, and how probable each of them is, and each of their phrases.

Scores are sums of weights. Their softmax at a temperature T that was fitted on held-out sentences
(training/temperature.py) makes probabilities of them: p(i) = exp(score(i) / T) / sum over j of exp(score(j) / T).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import exp, inf

from spacy_incparse.parsers.constraints import Constraints
from spacy_incparse.parsers.parse import Parse, Tags
from spacy_incparse.parsers.protocol import ConstituencyParser
from spacy_incparse.trees.tree import Tree

N_ANALYSES = 100  # at most so many of a sentence are looked at

Phrase = tuple[str, int, int]  # label, first word, one behind the last


class NBestSearch:
    """Finds the analyses beside a parser's own, by a search that keeps a hypothesis for no more than its rank.

    The parser's own search drops what scores far below the best, which is what a probability has to know.
    """

    def __init__(self, parser: ConstituencyParser):
        self.parser = parser
        self._wide = parser.with_wide_search(N_ANALYSES)

    def analyses(self, words: Sequence[str], tags: Tags, constraints: Constraints = ()) -> list[Parse]:
        """Give the analyses of a sentence, the parser's own first, then the others with falling scores."""
        constraints = list(constraints)
        return self.beside(self.parser.parse(words, tags, constraints), words, tags, constraints)

    def beside(self, best: Parse, words: Sequence[str], tags: Tags, constraints: Constraints = ()) -> list[Parse]:
        """Give the parser's own analysis of a sentence and, with falling scores, the others.

        Where the parser answers with its best tree, what a wider search finds beyond that is left out, so that the tree
        that one works with is the best. A flat tree stands alone.
        """
        if best.source == "flat":
            return [best]
        found = self._wide.nbest(words, tags, N_ANALYSES, constraints)
        limit = best.score if self.parser.answers_with_best else inf
        others = (parse for parse in found if parse.score <= limit and parse.source != "flat")
        return [best, *(parse for parse in others if parse.tree != best.tree)][:N_ANALYSES]


def probabilities(scores: Sequence[float], temperature: float) -> list[float]:
    """Return the softmax of scores; they sum to 1."""
    top = max(scores)
    weights = [exp((score - top) / temperature) for score in scores]
    total = sum(weights)
    return [weight / total for weight in weights]


def phrase_probabilities(trees: Iterable[Tree], shares: Iterable[float]) -> dict[Phrase, float]:
    """Return for each phrase the sum of the probabilities of the trees that have it."""
    sums: dict[Phrase, float] = {}
    for tree, share in zip(trees, shares, strict=True):
        for phrase in set(tree.spans()):
            sums[phrase] = sums.get(phrase, 0.0) + share
    return {phrase: min(total, 1.0) for phrase, total in sums.items()}
