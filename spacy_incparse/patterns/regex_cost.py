"""An upper bound of a backtracking matcher's work, computed from the syntax of a regular expression.

`(a+)+` tries every way to split a run of `a`: 2^n of them for n characters. This takes a repetition whose body can
match in several ways. Otherwise the work is polynomial in the length: one degree for each repetition.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from spacy_incparse.patterns.regex_syntax import Item, op

_ONE_WAY = {op.LITERAL, op.NOT_LITERAL, op.IN, op.ANY, op.AT, op.GROUPREF}
_REPEATS = {op.MAX_REPEAT, op.MIN_REPEAT, getattr(op, "POSSESSIVE_REPEAT", None)}
_ATOMIC = getattr(op, "ATOMIC_GROUP", None)
_ASSERTIONS = {op.ASSERT, op.ASSERT_NOT}


class Cost(NamedTuple):
    """An upper bound of the steps: ways * length ** (degree + inner + 1), since a match may begin anywhere."""

    ways: int = 1  # alternatives to choose from
    degree: int = 0  # repetitions, each of which may end anywhere
    inner: int = 0  # repetitions in parts that are tried once per position, such as a look-ahead

    def longest(self, steps: int) -> int:
        """Return the maximal length of a text that takes at most `steps` steps; below 0 if there is none."""
        return int((steps / self.ways) ** (1 / (self.degree + self.inner + 1))) if self.ways <= steps else -1


def cost_of(items: Iterable[Item]) -> Cost | None:
    """Return the cost of a sequence of items, or None if it may be exponential."""
    ways, degree, inner = 1, 0, 0
    for item in items:
        cost = _item_cost(*item)
        if cost is None:
            return None
        ways, degree, inner = ways * cost.ways, degree + cost.degree, inner + cost.inner
    return Cost(ways, degree, inner)


def _item_cost(kind: Any, parts: Any) -> Cost | None:
    if kind in _ONE_WAY:
        return Cost()
    if kind is op.SUBPATTERN:
        return cost_of(parts[-1])
    if kind is _ATOMIC:
        return _inner_cost(parts)
    if kind is op.BRANCH:
        return _branch_cost(parts[1])
    if kind is op.GROUPREF_EXISTS:
        return _branch_cost([parts[1], parts[2] or ()])
    if kind in _ASSERTIONS:
        return _inner_cost(parts[1])
    if kind in _REPEATS:
        return _repeat_cost(*parts)
    return None


def _inner_cost(items: Iterable[Item]) -> Cost | None:
    """Return the cost of items that are matched once, without trying other ways."""
    cost = cost_of(items)
    return None if cost is None else Cost(inner=cost.degree + cost.inner)


def _branch_cost(branches: Iterable[Iterable[Item]]) -> Cost | None:
    costs = [cost_of(branch) for branch in branches]
    known = [cost for cost in costs if cost is not None]
    if len(known) < len(costs):
        return None
    return Cost(*(sum(cost.ways for cost in known), *(max(cost[k] for cost in known) for k in (1, 2))))


def _repeat_cost(least: int, most: int, body: Iterable[Item]) -> Cost | None:
    cost = cost_of(body)
    if cost is None:
        return None
    if most <= 1:
        return cost._replace(ways=cost.ways + (least < most))
    if cost.ways > 1 or cost.degree:
        return None
    return cost if least == most else cost._replace(degree=1)
