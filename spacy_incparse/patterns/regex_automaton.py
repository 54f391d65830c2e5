"""Regular expressions as automata, for those that may backtrack forever: an automaton reads a text only once.

An automaton is in several states at once, one for each way to read the text so far. Transitions between sets of states
are cached, so that most characters cost one dict lookup. It finds out whether the expression matches, but not where.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from spacy_incparse.patterns.regex_syntax import Item, compiled_item, op

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
            state = self._state(after, test=compiled_item(self._expression, item), reads=kind is not op.AT)
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
