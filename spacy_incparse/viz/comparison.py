"""The differences between two trees over the same words, by bracket, as EVALB counts them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from spacy_incparse.errors import IncparseError
from spacy_incparse.evaluation.brackets import COLLINS, WRAPPERS, EvalbParams, Rules
from spacy_incparse.evaluation.summaries import Agreement
from spacy_incparse.trees.tree import Tree
from spacy_incparse.viz.options import EXTRA, MISSING, WRONG_LABEL, Mark


@dataclass(frozen=True)
class Comparison:
    """The brackets that only one of two trees has, as marks on their nodes, by the nodes' numbers.

    If both trees have a bracket over the same words with different labels, it has the mark WRONG_LABEL in both; it
    counts as missing and as extra, as in EVALB.
    """

    gold: Mapping[int, Mark]
    parsed: Mapping[int, Mark]
    agreement: Agreement

    @property
    def summary(self) -> str:
        """The differences in one line."""
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
    """Match the brackets of two trees as EVALB does with the given parameters.

    Words are deleted by their gold tags (traces may be in one tree only), labels cut and deleted, equal brackets
    matched as multisets. Brackets that EVALB ignores get no mark. Raises IncparseError if the words differ.
    """
    rules = Rules(params)
    kept = _kept_words(gold, parsed, rules)
    gold_by_span, parsed_by_span = _by_span(gold, kept[0], rules), _by_span(parsed, kept[1], rules)
    n_gold, n_parsed = [sum(map(len, brackets.values())) for brackets in (gold_by_span, parsed_by_span)]
    n_missing, gold_marks, parsed_marks = 0, dict[int, Mark](), dict[int, Mark]()
    for span in gold_by_span | parsed_by_span:
        missing, extra = gold_by_span.get(span, []), parsed_by_span.get(span, [])
        for bracket in list(missing):  # each matches the first free one
            for other in extra:
                if not params.labeled or rules.same_label(bracket[1], other[1]):
                    missing.remove(bracket)
                    extra.remove(other)
                    break
        n_missing += len(missing)
        n_wrong = min(len(missing), len(extra))
        gold_marks |= {index: WRONG_LABEL if k < n_wrong else MISSING for k, (index, _) in enumerate(missing)}
        parsed_marks |= {index: WRONG_LABEL if k < n_wrong else EXTRA for k, (index, _) in enumerate(extra)}
    return Comparison(gold_marks, parsed_marks, Agreement(n_gold - n_missing, n_gold, n_parsed))


def _kept_words(gold: Tree, parsed: Tree, rules: Rules) -> tuple[list[bool], list[bool]]:
    """Return for the words of each tree whether they count; without traces, both trees have the same words."""
    gold_tags, parsed_tags = gold.tags, parsed.tags
    traces = rules.deleted_tags & rules.not_in_length
    gold_words = [i for i, tag in enumerate(gold_tags) if tag not in traces]
    parsed_words = [i for i, tag in enumerate(parsed_tags) if tag not in traces]
    if len(gold_words) != len(parsed_words):
        # A real word may have been tagged as a trace.
        gold_words, parsed_words = list(range(len(gold_tags))), list(range(len(parsed_tags)))
    if len(gold_words) != len(parsed_words):
        start = " ".join(parsed.words)[:40]
        raise IncparseError(
            f"a tree of {len(parsed_words)} words, {start!r}, cannot be compared with one of {len(gold_words)}"
        )
    gold_kept, parsed_kept = [False] * len(gold_tags), [False] * len(parsed_tags)
    for i, k in zip(gold_words, parsed_words, strict=True):
        if not rules.same_word(gold.words[i], parsed.words[k]):
            raise IncparseError(
                f"trees over different words cannot be compared: word {k + 1} is {parsed.words[k]!r}, "
                f"and {gold.words[i]!r} in gold"
            )
        gold_kept[i] = parsed_kept[k] = gold_tags[i] not in rules.deleted_tags
    return gold_kept, parsed_kept


def _by_span(tree: Tree, kept: Sequence[bool], rules: Rules) -> dict[tuple[int, int], list[tuple[int, str]]]:
    """Return spans in counted words -> the nodes over each, from the top down, with labels as EVALB reads them."""
    brackets: dict[tuple[int, int], list[tuple[int, str]]] = {}
    position = [0, *accumulate(kept)]
    arrays, offset = tree.arrays, tree.start
    for index in range(tree.index, tree.index + tree.size):
        if arrays.sizes[index] == 1:
            continue
        whole = arrays.labels[index]
        label = rules.bracket_label("TOP" if index == tree.index and whole in WRAPPERS else whole)
        span = position[arrays.starts[index] - offset], position[arrays.ends[index] - offset]
        if label is not None and span[0] < span[1]:
            brackets.setdefault(span, []).append((index, label))
    return brackets
