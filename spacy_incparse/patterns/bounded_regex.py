"""Regular expressions that cannot hang: Python's `re` if its backtracking is bounded, or else an automaton."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from spacy_incparse.errors import IncparseError

_CHEAP = 10_000_000  # the most steps on one text for which `re` is used
_BEARABLE = 10 * _CHEAP  # the same without an automaton


class BoundedRegex:
    """A regular expression to search in labels and words.

    Raises re.error if it is invalid, UnboundedError if it may run forever.
    """

    def __init__(self, text: str, *, ignores_case: bool = False):
        flags = re.IGNORECASE if ignores_case else 0
        self.text = text
        self._regex = re.compile(text, flags)
        self._expression = parsed(text, flags)
        self._cost = cost_of(self._expression)
        if self._cost is None and self._automaton is None:
            raise UnboundedError(self._obstacle)
        self.can_capture = self._cost is not None  # whether `groups` can be used: automata do not record them
        self._cheap_length, self._bearable_length = (
            -1 if self._cost is None else self._cost.longest(steps) for steps in (_CHEAP, _BEARABLE)
        )

    def search(self, text: str) -> bool:
        """Return whether the expression matches somewhere in the text."""
        if len(text) > self._cheap_length and self._automaton:
            return self._automaton.search(text)
        return self._match(text) is not None

    def test_for(self, texts: Sequence[str]) -> Callable[[str], object]:
        """Return a function that is equivalent to `search` on these texts, but faster if they are short."""
        return self._regex.search if max(map(len, texts), default=0) <= self._cheap_length else self.search

    def groups(self, number: int, texts: Sequence[str]) -> list[str | None]:
        """Return the match of a group in each text, or None if the expression or the group does not match."""
        is_short = max(map(len, texts), default=0) <= self._bearable_length
        search = self._regex.search if is_short else self._match
        return [match.group(number) if (match := search(text)) else None for text in texts]

    @cached_property
    def _automaton(self) -> Automaton | None:
        try:
            return Automaton(self._expression)
        except UnsupportedError as unsupported:
            self._obstacle = str(unsupported)
            return None

    def _match(self, text: str) -> re.Match[str] | None:
        if len(text) > self._bearable_length:
            raise IncparseError(
                f"the regular expression /{self.text}/ may run forever on {text[:40]!r}, which has {len(text):,} "
                f"characters: write it with fewer repetitions"
            )
        return self._regex.search(text)


class UnboundedError(ValueError):
    """A regular expression that may run forever, and that has no equivalent automaton."""

    def __init__(self, obstacle: str):
        super().__init__(
            f"the regular expression may run forever: a repeated part can match in several ways, as in "
            f"(a+)+, and it is used with {obstacle}; remove one of the two"
        )


@lru_cache(maxsize=500)
def bounded_regex(text: str, ignores_case: bool = False) -> BoundedRegex:
    """Return a cached regular expression."""
    return BoundedRegex(text, ignores_case=ignores_case)


if sys.version_info >= (3, 11):
    from re import _compiler as compiler  # type: ignore[attr-defined]
    from re import _constants as op  # type: ignore[attr-defined]
    from re import _parser as parser  # type: ignore[attr-defined]
else:
    import sre_compile as compiler
    import sre_constants as op
    import sre_parse as parser

Item = tuple[Any, Any]  # an item of a regular expression: its kind, one of `op`, and its parts


def parsed(text: str, flags: int) -> Any:
    """Return the items of a regular expression. Raises re.error as `re.compile` does."""
    return parser.parse(text, flags)


# `(a+)+` tries every way to split a run of `a`: 2^n of them for n characters. This takes a repetition whose body can
# match in several ways. Otherwise the work is polynomial in the length: one degree for each repetition.

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
    if None in costs:
        return None
    ways, degrees, inner = zip(*filter(None, costs), strict=True)
    return Cost(sum(ways), max(degrees), max(inner))


def _repeat_cost(least: int, most: int, body: Iterable[Item]) -> Cost | None:
    cost = cost_of(body)
    if cost is None:
        return None
    if most <= 1:
        return cost._replace(ways=cost.ways + (least < most))
    if cost.ways > 1 or cost.degree:
        return None
    return cost if least == most else cost._replace(degree=1)


# An automaton is in several states at once, one for each way to read the text so far. Transitions between sets of
# states are cached, so that most characters cost one dict lookup. It finds out whether the expression matches, but not
# where.

MAX_STATES = 5_000
_MAX_KEPT = 20_000
_FOUND = 0  # the state at the end of the expression
_CHARACTERS = {op.LITERAL, op.NOT_LITERAL, op.IN, op.ANY}
_NAMES = {
    op.GROUPREF: "a reference to a group", op.GROUPREF_EXISTS: "a condition", op.ASSERT: "a look-ahead or look-behind",
    op.ASSERT_NOT: "a look-ahead or look-behind", op.SUBPATTERN: "flags for a part",
}  # fmt: skip

States = frozenset[int]


class UnsupportedError(Exception):
    """A part of an expression that automata do not support."""


class Automaton:
    """Tests whether a parsed regular expression matches somewhere in a text. May raise UnsupportedError."""

    def __init__(self, expression: Any):
        self._expression = expression
        self._next: list[tuple[int, ...]] = [()]  # state -> next states
        self._tests: list[re.Pattern[str] | None] = [None]  # state -> test that must succeed, None: no test
        self._reads = [False]  # state -> whether it consumes a character
        self._places: list[int] = []  # the states that test a position: ^, $, \b
        self._start = self._sequence(expression, _FOUND)
        self._closures: dict[tuple[States, tuple[bool, ...]], States] = {}
        self._moves: dict[tuple[States, str], States] = {}

    def search(self, text: str) -> bool:
        """Return whether the expression matches somewhere in the text."""
        tests = [test for state in self._places if (test := self._tests[state])]
        states: States = frozenset()
        for i in range(len(text) + 1):
            states = self._closure(states, tuple([test.match(text, i) is not None for test in tests]))
            if _FOUND in states:
                return True
            if i < len(text):
                states = self._moved(states, text[i])
        return False

    def _closure(self, states: States, holds: tuple[bool, ...]) -> States:
        """Return the states and the start state, with all states reached from them at the same position."""
        known = self._closures.get((states, holds))
        if known is None:
            failed = {state for state, is_true in zip(self._places, holds, strict=True) if not is_true}
            found, pending = {self._start, *states}, [self._start, *states]
            while pending:
                state = pending.pop()
                if self._reads[state] or state in failed:
                    continue
                new = set(self._next[state]) - found
                found |= new
                pending += new
            if len(self._closures) >= _MAX_KEPT:
                self._closures.clear()
            known = self._closures[states, holds] = frozenset(found)
        return known

    def _moved(self, states: States, character: str) -> States:
        """Return the states after a character."""
        known = self._moves.get((states, character))
        if known is None:
            following: set[int] = set()
            for state in states:
                test = self._tests[state]
                if self._reads[state] and test and test.match(character):
                    following.update(self._next[state])
            if len(self._moves) >= _MAX_KEPT:
                self._moves.clear()
            known = self._moves[states, character] = frozenset(following)
        return known

    # Construction from the end of the expression to its beginning: each part gets the state that follows it.

    def _sequence(self, items: Iterable[Item], after: int) -> int:
        for item in reversed(list(items)):
            after = self._item(item, after)
        return after

    def _item(self, item: Item, after: int) -> int:
        kind, parts = item
        if kind in _CHARACTERS or kind is op.AT:
            alone = parser.SubPattern(self._expression.state, [item])
            test = compiler.compile(alone, self._expression.state.flags)
            state = self._state(after, test=test, reads=kind is not op.AT)
            self._places += [state] * (kind is op.AT)
            return state
        if kind is op.SUBPATTERN and not (parts[1] or parts[2]):
            return self._sequence(parts[3], after)
        if kind is op.BRANCH:
            return self._state(*[self._sequence(branch, after) for branch in parts[1]])
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT):
            return self._repeat(parts, after)
        raise UnsupportedError(_NAMES.get(kind, "an atomic group or possessive repetition"))

    def _repeat(self, parts: tuple[int, int, Iterable[Item]], after: int) -> int:
        least, most, body = parts
        start = after
        if most is op.MAXREPEAT:
            start = self._state()
            self._next[start] = (self._sequence(body, start), after)
            most = least
        for _ in range(most - least):
            start = self._state(self._sequence(body, start), after)
        for _ in range(least):
            start = self._sequence(body, start)
        return start

    def _state(self, *following: int, test: re.Pattern[str] | None = None, reads: bool = False) -> int:
        if len(self._next) >= MAX_STATES:
            raise UnsupportedError("this many repetitions")
        self._next.append(following)
        self._tests.append(test)
        self._reads.append(reads)
        return len(self._next) - 1
