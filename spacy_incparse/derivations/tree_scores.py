"""The score of a given tree, move by move, and whether the grammar derives it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spacy_incparse.derivations.derivation import derivation
from spacy_incparse.derivations.violations import TAG, Refusal
from spacy_incparse.trees.tree import Tree


@dataclass(frozen=True)
class ScoredMove:
    """How one word is absorbed, or the sentence ended, and what that scores.

    word, tag: None at the end. closings: the labels of the constituents that end, the lowest first. chain: those of the
    constituents that begin, the highest first. A label A/A belongs to the left-corner transform: what follows the A to
    its left in a larger A. closing_score, chain_score: in the unit of the whole score; the chain's with tag and word.
    None where the grammar has no chain, from there on. refusal: why the grammar does not have the move; None: it does.
    """

    word: str | None
    tag: str | None
    closings: tuple[str, ...]
    chain: tuple[str, ...]
    closing_score: float | None
    chain_score: float | None
    refusal: Refusal | None = None

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
        return not any(move.refusal for move in self.moves)

    @property
    def reason(self) -> str:
        """What the grammar lacks first, and at which word (from 1); "" where it derives the tree."""
        for number, move in enumerate(self.moves, start=1):
            if move.refusal:
                where = "the end" if move.word is None else f"word {number} {move.word!r}"
                return f"{where}: {move.refusal.what} ({move.refusal.kind})"
        return ""


def tree_score(
    tree: Tree,
    transformed: Tree,
    scores: Sequence[tuple[float, float]],
    refused: Sequence[Refusal | None],
    unit: float = 1,
) -> TreeScore:
    """Put together what is known of the moves of a tree, word by word and for the end.

    transformed: the tree's left-corner form, with another tag where the grammar does not know the tree's. scores: of
    closings and of the chain, in fractions of `unit`; where they are fewer than the moves, the others are not known.
    """
    shares = [(of_closings / unit, of_chain / unit) for of_closings, of_chain in scores]
    pairs = [*shares, *[(None, None)] * (len(refused) - len(scores))]
    words = [*zip(tree.words, tree.tags, strict=True), (None, None)]
    known = [*transformed.tags, None]
    reasons = [
        refusal if word[1] == tag else Refusal(TAG, f"no tag {word[1]}")
        for word, tag, refusal in zip(words, known, refused, strict=True)
    ]
    moves = tuple(
        ScoredMove(*word, *labels, *pair, refusal)
        for word, labels, pair, refusal in zip(words, _labels(transformed), pairs, reasons, strict=True)
    )
    # Sums of whole numbers first: they are exact, and so the score is the search's to the last bit.
    return TreeScore(tree, sum(map(sum, scores)) / unit if len(scores) == len(refused) else None, moves)


def _labels(transformed: Tree) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Yield the labels that each move closes and opens, those at the end last."""
    open_labels = [transformed.label]
    for n_closings, chain in derivation(transformed):
        closings = tuple(open_labels.pop() for _ in range(n_closings))
        yield closings, chain
        open_labels += chain
    yield tuple(reversed(open_labels)), ()
