"""EVALB's counts of many trees of one sentence, such as an n-best list, against its gold tree.

`evalb.score_trees` compares pairs of trees, with all measures. Here the gold tree is prepared once, and what several
trees have in common is looked up: trees of a list share most of their phrases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from spacy_incparse.evaluation.evalb import score_trees
from spacy_incparse.evaluation.evalb_brackets import WRAPPERS, Bracket, Rules
from spacy_incparse.evaluation.params import COLLINS, EvalbParams
from spacy_incparse.trees.tree import Tree


class BracketCounts(NamedTuple):
    """EVALB's counts of brackets: shared by both trees, in the parsed tree, in the gold tree."""

    n_matched: int
    n_parsed: int
    n_gold: int

    @property
    def f(self) -> float:
        """The F of the parsed tree; 1 if neither tree has brackets."""
        n_brackets = self.n_parsed + self.n_gold
        return 2 * self.n_matched / n_brackets if n_brackets else 1.0


def list_counts(gold: Tree, trees: Iterable[Tree], params: EvalbParams = COLLINS) -> list[BracketCounts]:
    """Return the counts of each tree against the gold tree, the same as those of `score_trees`.

    Raises IncparseError if a tree has other words than the gold tree.
    """
    brackets = GoldBrackets(gold, params)
    return [brackets.counts(tree) for tree in trees]


class GoldBrackets:
    """The brackets of a gold tree, prepared for comparison with trees over the same words."""

    def __init__(self, gold: Tree, params: EvalbParams = COLLINS):
        self._gold, self._params = gold, params
        rules, classes = _prepared(params)
        tags = gold.tags
        # A trace may be on one side only, and equality that is not transitive depends on the order of the brackets.
        self._is_simple = classes is not None and rules.deleted_tags.isdisjoint(rules.not_in_length.intersection(tags))
        # The gold tags decide which words are deleted on both sides, so a phrase counts the same in all trees.
        self._counted = _CountedBrackets([tag not in rules.deleted_tags for tag in tags], rules, classes or {})
        self._has_words = self._counted.n_words > 0
        self._brackets = Counter(self._of(gold))
        self._n_gold = self._brackets.total()
        self._repeated = {bracket: n for bracket, n in self._brackets.items() if n > 1}

    def counts(self, tree: Tree) -> BracketCounts:
        """Return the counts of a tree. Raises IncparseError if it has other words than the gold tree."""
        if not self._is_simple or tree.words != self._gold.words:
            (score,) = score_trees([self._gold], [tree], params=self._params).per_sentence
            return BracketCounts(score.n_matched, score.n_parsed, score.n_gold)
        if not self._has_words:  # the sentence does not count
            return BracketCounts(0, 0, 0)
        found = self._of(tree)
        n_matched = len(self._brackets.keys() & set(found))
        for bracket, n in self._repeated.items():
            n_matched += max(min(n, found.count(bracket)) - 1, 0)
        return BracketCounts(n_matched, len(found), self._n_gold)

    def _of(self, tree: Tree) -> list[Bracket]:
        phrases = tree.spans()
        if phrases and phrases[0][0] in WRAPPERS:
            phrases[0] = ("TOP", *phrases[0][1:])
        offset = tree.start
        if offset:
            phrases = [(label, start - offset, end - offset) for label, start, end in phrases]
        counted = self._counted
        return [bracket for phrase in phrases if (bracket := counted[phrase]) is not None]


class _CountedBrackets(dict[Bracket, Bracket | None]):
    """Maps a phrase of a tree to the bracket that counts, or to None; one label stands for all its equals."""

    def __init__(self, is_kept: Sequence[bool], rules: Rules, classes: dict[str, str]):
        super().__init__()
        self._positions = [0, *accumulate(is_kept)]  # of each word among those that are left
        self._rules, self._classes = rules, classes

    @property
    def n_words(self) -> int:
        """The number of words that are left."""
        return self._positions[-1]

    def __missing__(self, phrase: Bracket) -> Bracket | None:
        label, start, end = phrase
        cut = self._rules.bracket_label(label)
        begin, behind = self._positions[start], self._positions[end]
        bracket = None
        if begin < behind and cut is not None:
            same = self._classes.get(cut, cut) if self._rules.params.labeled else ""
            bracket = (same, begin, behind)
        self[phrase] = bracket
        return bracket


@lru_cache(maxsize=8)
def _prepared(params: EvalbParams) -> tuple[Rules, dict[str, str] | None]:
    """Return the rules, and for each label of EQ_LABEL one that stands for all its equals.

    None instead of these if EQ_LABEL is not transitive.
    """
    equals: dict[str, set[str]] = {}
    for a, b in params.eq_labels:
        equals.setdefault(a, {a}).add(b)
        equals.setdefault(b, {b}).add(a)
    if any(equals[other] != same for same in equals.values() for other in same):
        return Rules(params), None
    return Rules(params), {label: min(same) for label, same in equals.items()}
