"""The outcomes that templates of edges are conjoined with: what a rule, or a part of it, is called.

An outcome gives each rule a column, or none: then a template with this outcome says nothing about the rule.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator

import numpy as np

from spacy_incparse.chart.grammar.grammar import Grammar
from spacy_incparse.chart.grammar.tree_rules import TAG_MARK, Rule
from spacy_incparse.transforms.state_labels import CHAIN, label_parts

VERB = "V"  # begins the tags of verbs
PREPOSITIONAL = "PP"


def base_category(state: str) -> str:
    """Return a state without ancestors, head tag and siblings; an active state is one with its phrase's."""
    mark = TAG_MARK if state.startswith(TAG_MARK) else ""
    return mark + CHAIN.join(label_parts(state.removeprefix(TAG_MARK)).categories)


def _base_rule(rule: Rule) -> Hashable:
    return base_category(rule.parent), tuple(map(base_category, rule.right)), tuple(map(base_category, rule.chain))


def _tag(rule: Rule) -> Hashable:
    return None if rule.right else label_parts(rule.parent.removeprefix(TAG_MARK)).categories[-1]


def _phrase(rule: Rule) -> Hashable:
    is_word = not rule.right and len(label_parts(rule.parent.removeprefix(TAG_MARK)).categories) == 1
    return None if is_word else ""


def _without(place: int) -> Callable[[Rule], Hashable]:
    """Return the outcome of rules with a verb's tag as that child: all but this child (Finkel et al., table 1)."""

    def outcome(rule: Rule) -> Hashable:
        if len(rule.right) != 2 or not rule.right[place].startswith(TAG_MARK + VERB):
            return None
        return rule.parent, rule.right[1 - place]

    return outcome


def _with_prepositional(rule: Rule) -> Hashable:
    is_meant = len(rule.right) == 2 and base_category(rule.right[1]) == PREPOSITIONAL
    return rule if is_meant else None


OUTCOMES: dict[str, tuple[str, Callable[[Rule], Hashable]]] = {
    "rule": ("the rule", lambda rule: rule),
    "state": ("its parent", lambda rule: rule.parent),
    "base": ("the parent's category, without its context", lambda rule: base_category(rule.parent)),
    "base_rule": ("the rule with all states as their categories", _base_rule),
    "tag": ("a lexical rule's tag", _tag),
    "phrase": ("the same for all rules but lexical ones that make no phrase", _phrase),
    "any": ("nothing: the same for all rules", lambda rule: ""),
    "left_verb": ("a binary rule without its left child, if this is a verb's tag", _without(0)),
    "right_verb": ("a binary rule without its right child, if this is a verb's tag", _without(1)),
    "right_pp": ("a binary rule, if its right child is a prepositional phrase", _with_prepositional),
}


def columns(grammar: Grammar, kind: str, outcome: str) -> np.ndarray:
    """Return the column of each rule under templates of a kind: int32 (n_rules + n_states,); -1: none.

    The numbers behind the rules stand for the states that could have a unary rule, but have none.
    """
    numbers: dict[Hashable, int] = {}
    found = np.full(grammar.n_rules + len(grammar.states), -1, np.int32)
    for place, rule in _rules_of_kind(grammar, kind):
        key = OUTCOMES[outcome][1](rule)
        if key is not None:
            found[place] = numbers.setdefault(key, len(numbers))
    return found


def _rules_of_kind(grammar: Grammar, kind: str) -> Iterator[tuple[int, Rule]]:
    bounds = {
        "rule": (0, grammar.n_rules),
        "span": (0, grammar.first_lexical),
        "split": (0, grammar.first_unary),
        "unary": (grammar.first_unary, grammar.first_lexical),
        "word": (grammar.first_lexical, grammar.first_root),
        "bare": (0, 0),
    }
    first, end = bounds[kind]
    yield from enumerate(grammar.rules[first:end], start=first)
    if kind in ("rule", "bare"):
        yield from enumerate((Rule(state, (state,)) for state in grammar.states), start=grammar.n_rules)
