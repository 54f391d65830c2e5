"""The score of a given tree, move by move or rule by rule, and what the grammar does not allow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from spacy_incparse.trees.tree import Tree


class Violation(NamedTuple):
    """The reason why the grammar does not allow a word's move or a rule. kind: "tag", "chain", "triple", "context", or
    "rule".

    tag: not seen in training; the most frequent tag is used instead. chain: an unseen chain of new constituents down
    to the tag. triple: an unseen triple of parent, left sibling and next constituent. context: parent, left sibling and
    the next word's tag were seen so often together that only what was seen there is allowed. rule: a chart parser's
    grammar lacks a rule.
    """

    kind: str
    what: str


@dataclass(frozen=True)
class ScoredMove:
    """The move that attaches a word or ends the sentence, with its score.

    word, tag: None at the end. closings: the labels of the constituents that end, lowest first. chain: the labels of
    the constituents that begin, highest first. A label A/A comes from the left-corner transform: it covers the
    material that follows the A to its left in a larger A. closing_score, chain_score: in the same unit as the total
    score; chain_score includes tag and word. Both are None from the first move whose chain the grammar does not have.
    violation: why the grammar does not allow the move; None if it does.
    """

    word: str | None
    tag: str | None
    closings: tuple[str, ...]
    chain: tuple[str, ...]
    closing_score: float | None
    chain_score: float | None
    violation: Violation | None = None

    @property
    def score(self) -> float | None:
        """The score of the whole move."""
        if self.closing_score is None or self.chain_score is None:
            return None
        return self.closing_score + self.chain_score


@dataclass(frozen=True)
class ScoredRule:
    """A rule of a chart parser's grammar over the words from `start` up to but not including `end`, with its score.

    rule: as text, such as "S -> NP VP"; its labels are those of the grammar. score: None if the tree has none.
    violation: why the grammar does not allow the rule; None if it does.
    """

    rule: str
    start: int
    end: int
    score: float | None
    violation: Violation | None = None


@dataclass(frozen=True)
class TreeScore:
    """The score that the parser assigns to a tree, with the derivation.

    tree: with the tags used for scoring. score: as in `Parse`; None if the grammar lacks the chain for some word, or a
    rule. moves: of an incremental parser, one for each word, and one for the end. rules: of a chart parser, in
    pre-order; the sum of their scores is that of the tree up to a constant of the sentence.
    """

    tree: Tree
    score: float | None
    moves: tuple[ScoredMove, ...] = ()
    rules: tuple[ScoredRule, ...] = ()

    @property
    def is_derived(self) -> bool:
        """Whether the grammar allows all moves or rules, so that the search can find the tree."""
        return not self.reason

    @property
    def reason(self) -> str:
        """The first violation and the number of its words, from 1; "" if the grammar derives the tree."""
        for number, move in enumerate(self.moves, start=1):
            if move.violation:
                where = "the end" if move.word is None else f"word {number} {move.word!r}"
                return f"{where}: {move.violation.what} ({move.violation.kind})"
        for rule in self.rules:
            if rule.violation:
                where = f"words {rule.start + 1} to {rule.end}" if rule.end > rule.start + 1 else f"word {rule.end}"
                return f"{where}: {rule.violation.what} ({rule.violation.kind})"
        return ""
