"""The score of a given tree, move by move, and what the grammar lacks for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from spacy_incparse.trees.tree import Tree


class Violation(NamedTuple):
    """What the grammar lacks for a word's move. kind: "tag", "chain", "triple" or "context".

    A tag that training has not seen, for which the most frequent one stands; a chain of new constituents down to the
    tag; a triple of parent, left sibling and what comes next; or a context (parent, left sibling, tag of the next word)
    that was seen so often that it allows only what was seen there.
    """

    kind: str
    what: str


@dataclass(frozen=True)
class ScoredMove:
    """How one word is absorbed, or the sentence ended, and what that scores.

    word, tag: None at the end. closings: the labels of the constituents that end, the lowest first. chain: those of the
    constituents that begin, the highest first. A label A/A belongs to the left-corner transform: what follows the A to
    its left in a larger A. closing_score, chain_score: in the unit of the whole score; the chain's with tag and word.
    None from where the grammar has no chain. violation: why the grammar does not have the move; None if it does.
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
class TreeScore:
    """The score of a tree as its parser would score it, with the derivation.

    tree: under the tags that it was scored with. score: as of a `Parse`; None where the grammar has no chain for some
    word. moves: one for each word, and one for the end.
    """

    tree: Tree
    score: float | None
    moves: tuple[ScoredMove, ...]

    @property
    def is_derived(self) -> bool:
        """Whether the grammar has all moves, so that the search may find the tree."""
        return not any(move.violation for move in self.moves)

    @property
    def reason(self) -> str:
        """What the grammar lacks first, and at which word (from 1); "" where it derives the tree."""
        for number, move in enumerate(self.moves, start=1):
            if move.violation:
                where = "the end" if move.word is None else f"word {number} {move.word!r}"
                return f"{where}: {move.violation.what} ({move.violation.kind})"
        return ""
