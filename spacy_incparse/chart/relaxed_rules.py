"""The relaxed grammar of Finkel et al. (2008, section 5): rules seen under one parent may be used under any other."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from functools import cache

from spacy_incparse.chart.grammar import TAG_MARK, Rule
from spacy_incparse.transforms.markovize import label_parts, with_furthest_ancestor


def relaxed(counts: Mapping[Rule, int]) -> Counter[Rule]:
    """Return the rules with those that differ from them in the furthest ancestor of their parent alone, counted as 0.

    A phrase gets only the ancestors that it was seen with, so that there are no new states but active ones: an active
    child follows its parent.
    """
    ancestors: dict[str, set[str]] = defaultdict(set)  # label without its furthest ancestor -> those it was seen with
    for rule in counts:
        found = _furthest(rule.parent)
        if found is not None and not label_parts(rule.parent).is_active:
            ancestors[_without_ancestor(rule.parent)].add(found)
    relaxed_counts = Counter(dict(counts))
    for rule in counts:
        if rule.right and _furthest(rule.parent) is not None:
            phrase = _without_ancestor(rule.parent.partition("|")[0])
            for ancestor in ancestors[phrase]:
                relaxed_counts.setdefault(_moved(rule, ancestor), 0)
    return relaxed_counts


def _moved(rule: Rule, ancestor: str) -> Rule:
    """Return a rule under another furthest ancestor."""
    right = tuple(
        with_furthest_ancestor(name, ancestor) if label_parts(name).is_active else name for name in rule.right
    )
    return rule._replace(parent=with_furthest_ancestor(rule.parent, ancestor), right=right)


@cache
def _furthest(state: str) -> str | None:
    """Return the furthest ancestor in a state's label; None if it has none or is a word's."""
    ancestors = () if not state or state.startswith(TAG_MARK) else label_parts(state).ancestors
    return ancestors[-1] if ancestors else None


@cache
def _without_ancestor(state: str) -> str:
    return with_furthest_ancestor(state, "")
