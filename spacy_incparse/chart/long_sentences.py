"""Sentences that are too long for one chart: their pieces, and the tree over these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from spacy_incparse.parsing.parse import Constraint
from spacy_incparse.trees.builder import TreeBuilder
from spacy_incparse.trees.labels import ROOT
from spacy_incparse.trees.tree import Tree


def pieces(words: Sequence[str], max_words: int) -> Iterator[tuple[int, int]]:
    """Yield the start and end of pieces with `max_words` at most, cut after punctuation where that is possible."""
    start = 0
    while len(words) - start > max_words:
        end = start + max_words
        marks = (place for place in range(end, start + max_words // 2, -1) if _is_mark(words[place - 1]))
        end = next(marks, end)
        yield start, end
        start = end
    yield start, len(words)


def _is_mark(word: str) -> bool:
    return not any(character.isalnum() for character in word)


def within(constraints: Sequence[Constraint], start: int, end: int) -> list[Constraint]:
    """Return the constraints on a piece, relative to its first word."""
    return [
        constraint._replace(start=constraint.start - start, end=constraint.end - start)
        for constraint in constraints
        if start <= constraint.start and constraint.end <= end and constraint.label != ROOT
    ]


def joined(trees: Sequence[Tree]) -> Tree:
    """Return the phrases of the trees of pieces side by side under one root."""
    builder = TreeBuilder()
    builder.open(ROOT)
    for tree in trees:
        for child in tree.children:
            builder.subtree(child)
    builder.close()
    return builder.finish()
