"""The n-best list of a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from spacy_incparse.parsers.parse import Parse
from spacy_incparse.trees.tree import Tree


@dataclass(frozen=True)
class CandidateList:
    """The candidate trees of one sentence, all over the same words.

    The parser's own tree is the first; the others follow, best first by the base parser's score, which may be higher.

    temperature: that of the base parser; probabilities are proportional to exp(score / temperature). gold: the right
    tree, if it is known; it need not be among the candidates. others: scores of the candidates by other models, by name
    (see `second_scores.SECOND_SCORES`).
    """

    parses: tuple[Parse, ...]
    temperature: float = 1.0
    gold: Tree | None = None
    others: Mapping[str, Sequence[float]] = field(default_factory=dict)

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the sentence."""
        return self.parses[0].tree.words

    @property
    def has_better(self) -> bool:
        """Whether a tree scores higher than the first, the parser's own."""
        return any(parse.score > self.parses[0].score for parse in self.parses)

    def first(self, n: int) -> CandidateList:
        """Return the list without the candidates after the first n."""
        others = {name: scores[:n] for name, scores in self.others.items()}
        return replace(self, parses=tuple(self.parses[:n]), others=others)
