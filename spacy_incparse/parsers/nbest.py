"""N-best analyses of a sentence, and the probabilities of trees and phrases.

Scores are sums of weights. A softmax turns them into probabilities, at a temperature T fitted on held-out sentences
(training/temperature.py): p(i) = exp(score(i) / T) / sum over j of exp(score(j) / T).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import exp, inf

from spacy_incparse.parsers.constraints import Constraints
from spacy_incparse.parsers.parse import Parse, Tags
from spacy_incparse.parsers.protocol import ConstituencyParser
from spacy_incparse.trees.tree import Tree

N_ANALYSES = 100  # the maximum per sentence

Phrase = tuple[str, int, int]  # label, first word, one past the last


class NBestSearch:
    """Find the n-best analyses by a search that prunes by rank alone.

    The parser's own search drops hypotheses that score far below the best, but probabilities need them.
    """

    def __init__(self, parser: ConstituencyParser):
        self.parser = parser
        self._wide = parser.with_wide_search(N_ANALYSES)

    def analyses(self, words: Sequence[str], tags: Tags, constraints: Constraints = ()) -> list[Parse]:
        """Return the analyses of a sentence: the parser's own, then the others by descending score."""
        constraints = list(constraints)
        return self.beside(self.parser.parse(words, tags, constraints), words, tags, constraints)

    def beside(self, best: Parse, words: Sequence[str], tags: Tags, constraints: Constraints = ()) -> list[Parse]:
        """Return the parser's own analysis of a sentence, then the others by descending score.

        If the parser returns its highest-scoring tree, higher-scoring trees from the wider search are left out, so that
        the parser's tree remains the best. A flat tree is returned alone.
        """
        if best.source == "flat":
            return [best]
        found = self._wide.nbest(words, tags, N_ANALYSES, constraints)
        limit = best.score if self.parser.answers_with_best else inf
        others = (parse for parse in found if parse.score <= limit and parse.source != "flat")
        return [best, *(parse for parse in others if parse.tree != best.tree)][:N_ANALYSES]


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
