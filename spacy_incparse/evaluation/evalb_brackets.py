"""The brackets of a sentence as EVALB sees them: words deleted, labels cut, spans matched and crossed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, compress

from spacy_incparse.evaluation.params import EvalbParams
from spacy_incparse.trees.tree import Tree

Bracket = tuple[str, int, int]
"""Label, start and end (exclusive), counted in the words (or characters) left after deletion."""

WRAPPERS = frozenset(["", "ROOT", "VROOT", "S1"])
"""Root labels of published treebanks, and of parsers, that mean TOP."""


class Rules:
    """The parameters in a form that is fast to apply; one object per scoring run."""

    def __init__(self, params: EvalbParams):
        self.params = params
        self.deleted_tags = frozenset(params.delete_labels)
        self.not_in_length = frozenset(params.delete_labels_for_length)
        self.quote_tags = frozenset(params.quote_labels)
        self._equal_labels = _both_ways(params.eq_labels)
        self._equal_words = _both_ways(params.eq_words)
        self._bracket_labels: dict[str, str | None] = {}

    def same_label(self, a: str, b: str) -> bool:
        """Return whether two labels or tags are equal, given EQ_LABEL (which is not transitive)."""
        return a == b or (a, b) in self._equal_labels

    def same_word(self, a: str, b: str) -> bool:
        """Return whether two words are equal, given EQ_WORD."""
        return a == b or (a, b) in self._equal_words

    def bracket_label(self, label: str) -> str | None:
        """Return a phrase's label, cut at `-` or `=`, or None if the parameters delete it.

        A label that begins with `-` becomes empty, as in EVALB. Tags of words are never cut.
        """
        if label not in self._bracket_labels:
            cut = label.partition("-")[0].partition("=")[0]
            deleted = any(self.same_label(cut, other) for other in self.params.delete_labels)
            self._bracket_labels[label] = None if deleted else cut
        return self._bracket_labels[label]

    def length(self, tags: Iterable[str]) -> int:
        """Return the sentence length in words, except those with a tag in DELETE_LABEL_FOR_LENGTH."""
        return sum(tag not in self.not_in_length for tag in tags)


@dataclass(slots=True)
class DeletedSide:
    """One tree after deletion: the words and tags left, and all phrases.

    `brackets` holds every phrase in pre-order, even if it is empty, with its label as in the tree.
    """

    words: list[str]
    tags: list[str]
    brackets: list[Bracket]


def delete_words(tree: Tree, tags: Sequence[str], deleted_tags: frozenset[str]) -> DeletedSide:
    """Delete the words of `tree` that have a deleted tag; `tags` may differ from the tree's tags."""
    kept = [tag not in deleted_tags for tag in tags]
    position = [0, *accumulate(kept)]
    offset = tree.start
    brackets = [(label, position[start - offset], position[end - offset]) for label, start, end in tree.spans()]
    return DeletedSide(list(compress(tree.words, kept)), list(compress(tags, kept)), brackets)


def counted_brackets(brackets: Iterable[Bracket], rules: Rules) -> list[Bracket]:
    """Return the brackets that count, in order: they are not empty, and their label is cut and not deleted."""
    counted = []
    for label, start, end in brackets:
        cut = rules.bracket_label(label)
        if start < end and cut is not None:
            counted.append((cut, start, end))
    return counted


def without_wrapper(brackets: list[Bracket]) -> list[Bracket]:
    """Rename the first bracket, the root's, to TOP if it is a treebank's wrapper."""
    if brackets and brackets[0][0] in WRAPPERS:
        return [("TOP", *brackets[0][1:]), *brackets[1:]]
    return brackets


def match_brackets(gold: Iterable[Bracket], parsed: Iterable[Bracket], rules: Rules) -> list[tuple[str, str]]:
    """Match each gold bracket with the first free parsed one of equal span and label.

    Spans with the same label are a multiset. Returns the (gold label, parsed label) pairs of the matches; these labels
    differ if EQ_LABEL or LABELED 0 made them equal.
    """
    free: dict[tuple[int, int], list[str]] = {}
    for label, start, end in parsed:
        free.setdefault((start, end), []).append(label)
    matches = []
    for label, start, end in gold:
        candidates = free.get((start, end), ())
        for k, candidate in enumerate(candidates):
            if not rules.params.labeled or rules.same_label(label, candidate):
                matches.append((label, candidate))
                del free[start, end][k]
                break
    return matches


def count_crossing(gold: Sequence[Bracket], parsed: Iterable[Bracket]) -> int:
    """Count the parsed brackets that cross at least one gold bracket; the gold ones are nested, in pre-order."""
    gold_spans = {(start, end) for _, start, end in gold}
    suspects = [(start, end) for _, start, end in parsed if (start, end) not in gold_spans]
    if not suspects:
        return 0
    crosses = crossing_test(gold)
    return sum(crosses(start, end) for start, end in suspects)


def crossing_test(gold: Sequence[Bracket]) -> Callable[[int, int], bool]:
    """Return a constant-time test for whether a span crosses one of the nested `gold` brackets (in pre-order).

    A span (i, j) is crossed from the left by a bracket (a, b) with a < i < b < j. Of all brackets with i inside, the
    innermost has the smallest b, so it is enough to check that one; the right side is symmetric.
    """
    n_positions = 1 + max((end for _, _, end in gold), default=0)
    inner_start, inner_end = [-1] * n_positions, [sys.maxsize] * n_positions  # outside all brackets: no crossing
    for _, start, end in gold:
        inner_start[start + 1 : end] = [start] * (end - start - 1)
        inner_end[start + 1 : end] = [end] * (end - start - 1)

    def crosses(start: int, end: int) -> bool:
        return (start < n_positions and inner_end[start] < end) or (end < n_positions and inner_start[end] > start)

    return crosses


def _both_ways(pairs: Iterable[tuple[str, str]]) -> frozenset[tuple[str, str]]:
    return frozenset(pair for a, b in pairs for pair in ((a, b), (b, a)))
