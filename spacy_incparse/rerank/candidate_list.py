"""The n-best list of a sentence."""

from __future__ import annotations

from dataclasses import dataclass

from spacy_incparse.parsers.parse import Parse
from spacy_incparse.trees.tree import Tree


@dataclass(frozen=True)
class CandidateList:
    """The candidate trees of one sentence, all over the same words, best first by the base parser's score.

    temperature: that of the base parser; probabilities are proportional to exp(score / temperature). gold: the right
    tree, if it is known; it need not be among the candidates.
    """

    parses: tuple[Parse, ...]
    temperature: float = 1.0
    gold: Tree | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the sentence."""
        return self.parses[0].tree.words
