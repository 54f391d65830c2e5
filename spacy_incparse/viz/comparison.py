"""Where two trees over the same words differ, bracket by bracket, as EVALB counts them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from spacy_incparse.errors import IncparseError
from spacy_incparse.evaluation.brackets import WRAPPERS, Rules
from spacy_incparse.evaluation.params import COLLINS, EvalbParams
from spacy_incparse.evaluation.scores import Agreement
from spacy_incparse.trees.tree import Tree
from spacy_incparse.viz.colors import EXTRA, MISSING, WRONG_LABEL, Mark


@dataclass(frozen=True)
class Comparison:
    """The brackets that only one of two trees has, as marks on the nodes that they belong to, by the nodes' numbers.

    A bracket that both trees have over the same words under different labels has the mark WRONG_LABEL in both; it
    counts as missing and as extra, as it does for EVALB.
    """

    gold: Mapping[int, Mark]
    parsed: Mapping[int, Mark]
    agreement: Agreement

    @property
    def summary(self) -> str:
        """Say in one line what differs."""
        n_wrong = sum(mark is WRONG_LABEL for mark in self.gold.values())
        counts = (
            (len(self.gold) - n_wrong, "missing"),
            (len(self.parsed) - n_wrong, "too many"),
            (n_wrong, "with another label"),
        )
        found = ", ".join(f"{count} {what}" for count, what in counts if count) or "no difference"
        scores = self.agreement
        return f"{found} · P {100 * scores.precision:.1f} R {100 * scores.recall:.1f} F {100 * scores.f:.1f}"


def compare(gold: Tree, parsed: Tree, params: EvalbParams = COLLINS) -> Comparison:
    """Match the brackets of two trees as EVALB does under the given parameters.

    Words are deleted by their gold tags, labels cut and deleted, equal brackets matched as multisets. What EVALB leaves
    out gets no mark. Raises IncparseError where the trees have not the same words.
    """
    rules = Rules(params)
    _check_words(gold.words, parsed.words, rules)
    kept = [0, *accumulate(tag not in rules.deleted_tags for tag in gold.tags)]
    gold_by_span, parsed_by_span = _by_span(gold, kept, rules), _by_span(parsed, kept, rules)
    n_gold, n_parsed = _count(gold_by_span), _count(parsed_by_span)
    for span, brackets in gold_by_span.items():
        _remove_matches(brackets, parsed_by_span.get(span, []), rules)
    n_matched = n_gold - _count(gold_by_span)
    gold_marks: dict[int, Mark] = {}
    parsed_marks: dict[int, Mark] = {}
    for span in gold_by_span | parsed_by_span:
        missing, extra = gold_by_span.get(span, []), parsed_by_span.get(span, [])
        n_wrong = min(len(missing), len(extra))
        gold_marks |= {index: WRONG_LABEL if k < n_wrong else MISSING for k, (index, _) in enumerate(missing)}
        parsed_marks |= {index: WRONG_LABEL if k < n_wrong else EXTRA for k, (index, _) in enumerate(extra)}
    return Comparison(gold_marks, parsed_marks, Agreement(n_matched, n_gold, n_parsed))


def _check_words(gold: Sequence[str], parsed: Sequence[str], rules: Rules) -> None:
    if len(gold) != len(parsed):
        raise IncparseError(
            f"a tree of {len(parsed)} words, {' '.join(parsed)[:40]!r}, cannot be compared with one of {len(gold)}"
        )
    for number, (a, b) in enumerate(zip(gold, parsed, strict=True), start=1):
        if not rules.same_word(a, b):
            raise IncparseError(f"trees over other words cannot be compared: word {number} is {b!r}, and {a!r} in gold")


_Brackets = dict[tuple[int, int], list[tuple[int, str]]]
"""Span, in the words that count -> the nodes over it, from the top down, each with its label as EVALB reads it."""


def _by_span(tree: Tree, kept: list[int], rules: Rules) -> _Brackets:
    brackets: _Brackets = {}
    arrays, offset = tree.arrays, tree.start
    for index in range(tree.index, tree.index + tree.size):
        if arrays.sizes[index] == 1:
            continue
        whole = arrays.labels[index]
        label = rules.bracket_label("TOP" if index == tree.index and whole in WRAPPERS else whole)
        span = kept[arrays.starts[index] - offset], kept[arrays.ends[index] - offset]
        if label is not None and span[0] < span[1]:
            brackets.setdefault(span, []).append((index, label))
    return brackets


def _remove_matches(gold: list[tuple[int, str]], parsed: list[tuple[int, str]], rules: Rules) -> None:
    """Take the brackets out of both lists that match: each of gold with the first free one."""
    for bracket in list(gold):
        for candidate in parsed:
            if not rules.params.labeled or rules.same_label(bracket[1], candidate[1]):
                gold.remove(bracket)
                parsed.remove(candidate)
                break


def _count(brackets: _Brackets) -> int:
    return sum(map(len, brackets.values()))
