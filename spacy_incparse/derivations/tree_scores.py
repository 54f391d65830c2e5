"""The score of a given tree, computed from the moves of its derivation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from spacy_incparse.derivations.derivation import derivation
from spacy_incparse.derivations.violations import TAG
from spacy_incparse.parsers.tree_scores import ScoredMove, TreeScore, Violation
from spacy_incparse.trees.tree import Tree


def tree_score(
    tree: Tree,
    transformed: Tree,
    scores: Sequence[tuple[float, float]],
    violated: Sequence[Violation | None],
    unit: float = 1,
) -> TreeScore:
    """Return the score of a tree and of its moves, word by word and for the end.

    transformed: the tree's left-corner form, with another tag where the grammar does not know the tree's. scores: of
    closings and of the chain, in fractions of `unit`; if there are fewer scores than moves, the rest are not known.
    """
    shares = [(of_closings / unit, of_chain / unit) for of_closings, of_chain in scores]
    pairs = [*shares, *[(None, None)] * (len(violated) - len(scores))]
    words = [*zip(tree.words, tree.tags, strict=True), (None, None)]
    known = [*transformed.tags, None]
    reasons = [
        violation if word[1] == tag else Violation(TAG, f"no tag {word[1]}")
        for word, tag, violation in zip(words, known, violated, strict=True)
    ]
    moves = tuple(
        ScoredMove(*word, *labels, *pair, violation)
        for word, labels, pair, violation in zip(words, _labels(transformed), pairs, reasons, strict=True)
    )
    # Sum whole numbers first: the sums are exact, so the score equals the search's to the last bit.
    return TreeScore(tree, sum(map(sum, scores)) / unit if len(scores) == len(violated) else None, moves)


def _labels(transformed: Tree) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Yield the labels that each move closes and opens, and at last those of the end."""
    open_labels = [transformed.label]
    for n_closings, chain in derivation(transformed):
        closings = tuple(open_labels.pop() for _ in range(n_closings))
        yield closings, chain
        open_labels += chain
    yield tuple(reversed(open_labels)), ()
