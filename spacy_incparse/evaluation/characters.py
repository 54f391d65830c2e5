"""Scoring in character space, for gold and parsed trees with different tokens or sentence boundaries.

Every bracket is reduced to the characters that count: those inside gold words that are not deleted. Its ends are
counted in these characters, so that with equal tokens and sentences the scores equal those of `score_trees`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, zip_longest
from typing import Any, NamedTuple

from spacy_incparse.errors import IncparseError
from spacy_incparse.evaluation.brackets import (
    COLLINS,
    Bracket,
    EvalbParams,
    Rules,
    counted_brackets,
    crossing_test,
    match_brackets,
    without_wrapper,
)
from spacy_incparse.evaluation.summaries import SKIPPED, VALID, Agreement, LabelCounts, Scores, SentenceScore
from spacy_incparse.trees.tree import Tree


class PlacedTree(NamedTuple):
    """A sentence's tree with the character offsets of its words in a text, ends exclusive."""

    tree: Tree
    starts: Sequence[int]  # one per word of the tree; a trace has start == end
    ends: Sequence[int]

    @property
    def words(self) -> list[tuple[tuple[int, int], str]]:
        """Start and end of each word, with its tag."""
        return list(zip(zip(self.starts, self.ends, strict=True), self.tree.tags, strict=True))


@dataclass(frozen=True)
class TextScores:
    """The result of `score_texts`: EVALB scores in character space, and the agreement of tokens and sentences."""

    scores: Scores
    tokens: Agreement
    sentences: Agreement

    def to_dict(self) -> dict[str, Any]:
        """Return the dict of `scores`, and token_p, token_r, token_f, sent_p, sent_r, sent_f (fractions)."""
        result = self.scores.to_dict()
        for name, agreement in (("token", self.tokens), ("sent", self.sentences)):
            result[f"{name}_p"] = agreement.precision
            result[f"{name}_r"] = agreement.recall
            result[f"{name}_f"] = agreement.f
        return result

    def format(self) -> str:
        """Return token and sentence agreement in percent, then the tables of `scores`."""
        lines = [f"{'':<12} {'Recall':>7} {'Prec.':>7} {'F':>7}"]
        for name, agreement in (("Tokens", self.tokens), ("Sentences", self.sentences)):
            measures = (agreement.recall, agreement.precision, agreement.f)
            lines.append(f"{name:<12} " + " ".join(f"{100 * measure:7.2f}" for measure in measures))
        return "\n".join([*lines, "", self.scores.format()])


def score_texts(
    gold: Iterable[Sequence[PlacedTree]], parsed: Iterable[Sequence[PlacedTree]], *, params: EvalbParams = COLLINS
) -> TextScores:
    """Compare parsed texts with gold texts; each text is a sequence of trees, one per sentence in order.

    A parsed bracket belongs to the gold sentence that contains its first counted character. A tag is right if the
    gold and the parsed token have the same boundaries and tag. Raises IncparseError if the numbers of texts differ.
    """
    rules = Rules(params)
    rows: list[SentenceScore] = []
    labels = LabelCounts()
    tokens, sentences = Agreement(0, 0, 0), Agreement(0, 0, 0)
    for number, (gold_text, parsed_text) in enumerate(zip_longest(gold, parsed), start=1):
        if gold_text is None or parsed_text is None:
            raise IncparseError(
                f"text {number} is missing on one side: there must be one parsed text for each gold one"
            )
        rows += _score_text(gold_text, parsed_text, rules, labels)
        words, bounds = [], []
        for text in (gold_text, parsed_text):
            words.append([place for placed in text for place, _ in placed.words if place[0] < place[1]])
            bounds.append([(min(placed.starts), max(placed.ends)) for placed in text])
        tokens, sentences = _added(tokens, *words), _added(sentences, *bounds)
    return TextScores(Scores.of(rows, labels, params), tokens, sentences)


def _score_text(
    gold: Sequence[PlacedTree], parsed: Sequence[PlacedTree], rules: Rules, labels: LabelCounts
) -> list[SentenceScore]:
    kept = [[(place, tag) for place, tag in placed.words if tag not in rules.deleted_tags] for placed in gold]
    is_counted = bytearray(max((end for placed in (*gold, *parsed) for end in placed.ends), default=0))
    for words in kept:
        for (start, end), _ in words:
            is_counted[start:end] = b"\1" * (end - start)
    position = [0, *accumulate(is_counted)]  # the number of counted characters before each
    gold_brackets = [_brackets(placed, position, rules) for placed in gold]
    first = [position[min(placed.starts)] for placed in gold]
    parsed_brackets: list[list[Bracket]] = [[] for _ in gold]
    for placed in parsed:
        for bracket in _brackets(placed, position, rules):
            # Skipped sentences have no counted character, so the next sentence begins at the same place.
            parsed_brackets[bisect_right(first, bracket[1]) - 1].append(bracket)
    crosses = crossing_test([bracket for sentence in gold_brackets for bracket in sentence])
    parsed_tags = {place: tag for placed in parsed for place, tag in placed.words}
    rows = []
    for placed, words, here, found in zip(gold, kept, gold_brackets, parsed_brackets, strict=True):
        length = rules.length(placed.tree.tags)
        if not words:
            rows.append(SentenceScore(length, SKIPPED))
            continue
        matches = match_brackets(here, found, rules)
        labels.add(here, found, matches)
        n_crossing = sum(crosses(start, end) for _, start, end in found)
        n_correct_tags = sum(rules.same_label(tag, parsed_tags.get(place, "")) for place, tag in words)
        counts = len(matches), len(here), len(found), n_crossing, len(words), n_correct_tags
        rows.append(SentenceScore(length, VALID, *counts))
    return rows


def _brackets(placed: PlacedTree, position: Sequence[int], rules: Rules) -> list[Bracket]:
    tree, starts, ends = placed
    offset = tree.start
    spans = [
        (label, position[starts[start - offset]], position[ends[end - 1 - offset]])
        for label, start, end in tree.spans()
    ]
    return counted_brackets(without_wrapper(spans), rules)


def _added(before: Agreement, gold: Sequence[Hashable], parsed: Sequence[Hashable]) -> Agreement:
    n_matched = (Counter(gold) & Counter(parsed)).total()
    return Agreement(before.n_matched + n_matched, before.n_gold + len(gold), before.n_parsed + len(parsed))
