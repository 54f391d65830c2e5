"""The differences between two trees over the same words, by bracket, as EVALB counts them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from spacy_incparse.errors import IncparseError
from spacy_incparse.evaluation.brackets import COLLINS, WRAPPERS, EvalbParams, Rules
from spacy_incparse.evaluation.summaries import Agreement
from spacy_incparse.trees.tree import Tree
from spacy_incparse.viz.blocks import escape
from spacy_incparse.viz.options import EXTRA, INK, MISSING, WRONG_LABEL, Look, Mark, Options


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
    gold_kept, parsed_kept = _kept_words(gold, parsed, rules)
    gold_by_span, parsed_by_span = _by_span(gold, gold_kept, rules), _by_span(parsed, parsed_kept, rules)
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


_Brackets = dict[tuple[int, int], list[tuple[int, str]]]
"""Span in counted words -> the nodes over it, from the top down, each with its label as EVALB reads it."""


def _by_span(tree: Tree, kept: Sequence[bool], rules: Rules) -> _Brackets:
    brackets: _Brackets = {}
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


def _remove_matches(gold: list[tuple[int, str]], parsed: list[tuple[int, str]], rules: Rules) -> None:
    """Remove matching brackets from both lists: each gold bracket matches the first free one."""
    for bracket in list(gold):
        for candidate in parsed:
            if not rules.params.labeled or rules.same_label(bracket[1], candidate[1]):
                gold.remove(bracket)
                parsed.remove(candidate)
                break


def _count(brackets: _Brackets) -> int:
    return sum(map(len, brackets.values()))


_PLATE = f"color:{INK};border-radius:4px;padding:.05em .3em;font-size:.72em;font-weight:600;vertical-align:.1em"
_TAG = "font-size:.66em;opacity:.75;vertical-align:-.35em;margin-inline-start:.1em"


def brackets(tree: Tree, options: Options, look: Look | None = None) -> str:
    """Return the words of a tree between the colored brackets of its phrases, as one HTML element.

    Brackets are sibling elements, however deep the tree, since browsers limit nesting. Both brackets of a phrase have
    its node in `data-node`.
    """
    direction = "rtl" if options.is_mirrored(tree) else "ltr"
    language = f' lang="{escape(options.lang)}"' if options.lang else ""
    style = (
        f"line-height:2;font-size:{15 if options.compact else 17}px;font-family:{escape(options.font)};"
        f"color:{escape(_ink(options.color))};background:{escape(options.bg)};direction:{direction}"
    )
    pieces = "".join(_pieces(tree, options, look or Look(options.colors)))
    return f'<div class="incparse brackets" dir="{direction}"{language} style="{style}">{pieces}</div>'


def _ink(color: str) -> str:
    return "inherit" if color == "currentColor" else color


def _pieces(tree: Tree, options: Options, look: Look) -> Iterator[str]:
    arrays = tree.arrays
    is_open: list[tuple[int, str]] = []  # (index after the phrase, its closing bracket)
    for i in range(tree.index, tree.index + tree.size):
        yield from _closing(is_open, i)
        label = arrays.labels[i]
        if arrays.sizes[i] == 1:
            tag = f'<span class="tag" style="{_TAG}">{escape(label)}</span>' if options.tags else ""
            yield f' <span class="word"><bdi>{escape(arrays.words[arrays.starts[i]])}</bdi>{tag}</span>'
        elif options.shows(label):
            style = f'style="{_PLATE};background:{escape(look.fill(i, label))}{look.css_border(i)}"'
            is_open.append((i + arrays.sizes[i], f'<span class="close" data-node="{i}" {style}>]</span>'))
            yield f' <span class="open" data-node="{i}" {style}>[{escape(look.sign(i) + label)}</span>'
    yield from _closing(is_open, tree.index + tree.size)


def _closing(is_open: list[tuple[int, str]], i: int) -> Iterator[str]:
    while is_open and is_open[-1][0] <= i:
        yield is_open.pop()[1]
