"""The closure of unary chains (Stolcke 1995; Finkel et al. 2008, section 2): steps that were seen form new chains."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise

from spacy_incparse.chart.grammar import TAG_MARK, Rule

MAX_STEPS = 3  # of a new chain: the number of chains grows exponentially with their length


def with_closed_unaries(counts: Mapping[Rule, int], max_steps: int = MAX_STEPS) -> Counter[Rule]:
    """Return the rules with all unary chains of steps in theirs, without repeated states; new ones are counted as 0.

    max_steps: the most steps of a new chain.
    """
    steps: dict[str, set[str]] = defaultdict(set)
    for rule in counts:
        if rule.parent and len(rule.right) == 1:
            for above, below in pairwise([rule.parent, *rule.chain, *rule.right]):
                steps[above].add(below)
    closed = Counter(dict(counts))
    for path in _paths(steps, max_steps):
        closed.setdefault(Rule(path[0], (path[-1],), path[1:-1]), 0)
    return closed


def _paths(steps: Mapping[str, set[str]], max_steps: int) -> Iterator[tuple[str, ...]]:
    """Yield all paths of one step or more that visit no state twice."""
    waiting: list[tuple[str, ...]] = [(state,) for state in sorted(steps)]
    while waiting:
        path = waiting.pop()
        if len(path) > 1:
            yield path
        if len(path) <= max_steps and not path[-1].startswith(TAG_MARK):
            waiting += [(*path, state) for state in sorted(steps.get(path[-1], ())) if state not in path]
